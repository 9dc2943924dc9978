#pragma once

// The loop of a stage that numbers its outputs freely, in place of StageLoop: one sample of
// whichever input is there, the inputs in turn; its outputs into private rows, and from there one
// by one into the pool; the input is consumed. The marks and the journal (transports/free_lanes.h)
// tell a successor where it stands, the header of the last row its epoch and how many outputs that
// has.
//
// Epoch e of the output is made of epoch e of every input: an input that has come to the end of its
// epoch waits for the others. Then the rest up to a multiple of L is padding, the end is recorded,
// and the stage gets epoch_end(). Where an input was closed early (a stream's `max_wait`), so is
// the output. Holes and padding of inputs vanish. After a stop the inputs run dry, whatever their
// epochs, and the output ends. In a run that goes on, inputs may give epochs that the output has
// had, all of them perhaps: they are left out.
//
// One replica's; one thread. Nothing here allocates unless a sample fails.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "pipeline/run/loop_counters.h"
#include "pipeline/run/private_rows.h"
#include "pipeline/run/quarantine.h"
#include "pipeline/run/sample_errors.h"
#include "pipeline/run/stream_place.h"
#include "stages/api/stage.h"
#include "transports/free_lanes.h"
#include "transports/stop.h"

namespace brigade {

class FreeLoop {
 public:
  /// `spins`: attempts before sleeping.
  FreeLoop(const ReplicaContext& context, Stage& stage, int spins);

  /// An error ends the run.
  Result<void> run();

 private:
  using Lanes = FreeLanes<SystemPolicy>;

  /// One input.
  struct Port {
    RecordReader reader;
    std::unique_ptr<PrivateRows> rows;  // what its samples are made into
    std::uint64_t multiple;             // L of its domain
  };

  void add_port(std::size_t lane);
  Attempt<SystemPolicy> next_input();
  Result<void> take(std::uint64_t number);
  Result<std::uint64_t> call(Port& port, std::uint64_t number, RowCounts& counts);
  const DomainEpochs<SystemPolicy>& epochs_of(int port) { return lanes_.input(port).epochs(); }
  bool closes(Port& port, std::uint64_t number);
  bool give(const Port& port, std::uint64_t row, std::uint64_t outputs);
  bool pad_up_to(std::uint64_t end);
  std::optional<std::uint64_t> room();
  Result<void> pass_epoch();
  Result<void> tell_epochs();
  void end_inputs();
  bool is_aborting() const;
  std::uint64_t closed(std::uint64_t number) const {
    return (number + multiple_ - 1) / multiple_ * multiple_;
  }
  int lane() const { return 1 + lanes_.port(); }

  ReplicaContext context_;
  Stage* stage_;
  int spins_;
  SampleErrors errors_;
  Quarantine quarantine_;
  LoopCounters counters_;
  Lanes lanes_;
  std::vector<Port> ports_;
  const RowPool* pool_;
  int domain_;
  const EpochList<SystemPolicy>* ends_;
  std::uint64_t multiple_;  // L of the output
  StreamPlace place_;
  Pace pace_;
  SystemPolicy::Atomic<std::uint64_t>* at_;
  bool over_ = false;
};

}  // namespace brigade
