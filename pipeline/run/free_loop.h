#pragma once

// The loop of a stage that numbers its outputs freely, in place of StageLoop: FreeRun
// (transports/free_run.h) with the user's class for a body. The outputs of an input are made in
// private rows, and copied from there one by one into the pool. The header of the last row tells a
// successor how many outputs its epoch has. Holes and padding of inputs vanish.
//
// One replica's; one thread. Nothing here allocates unless a sample fails.

#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/run/loop_counters.h"
#include "pipeline/run/private_rows.h"
#include "pipeline/run/quarantine.h"
#include "pipeline/run/sample_errors.h"
#include "pipeline/run/stream_place.h"
#include "stages/api/stage.h"
#include "transports/free_run.h"

namespace brigade {

class FreeLoop {
 public:
  /// `spins`: attempts before sleeping.
  FreeLoop(const ReplicaContext& context, Stage& stage, int spins);

  /// An error ends the run.
  Result<void> run();

  // Of FreeRun:
  Result<FreeInput> look(int port, std::uint64_t number);
  void write(int port, std::uint64_t i, std::uint64_t number, std::uint64_t epoch);
  void pad(std::uint64_t number, std::uint64_t epoch);
  void done(const FreeInput& input);
  Result<void> tell(std::uint64_t epoch);
  void interrupt() { counters_.interrupt_task(); }
  void begin_wait(Cause cause) { counters_.begin_wait(cause); }
  void end_wait(Cause cause) { counters_.end_wait(cause); }

 private:
  /// One input.
  struct Port {
    RecordReader reader;
    std::unique_ptr<PrivateRows> rows;  // what its samples are made into
  };

  void add_port(std::size_t lane);
  Result<std::uint64_t> call(int port, std::uint64_t number, RowCounts& counts);
  /// Of the next row, in this epoch.
  std::uint64_t index_in(std::uint64_t epoch);

  ReplicaContext context_;
  Stage* stage_;
  int spins_;
  SampleErrors errors_;
  Quarantine quarantine_;
  LoopCounters counters_;
  std::vector<Port> ports_;
  std::vector<std::uint64_t> multiples_;  // L of the lanes' domains
  const RowPool* pool_;
  StreamPlace place_;
  SystemPolicy::Atomic<std::uint64_t>* at_;
};

}  // namespace brigade
