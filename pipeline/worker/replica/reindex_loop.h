#pragma once

// The loop of a flat_map stage, in place of TaskLoop: FlatMapRun (transports/flat_map_run.h)
// with the user's class for a body. The outputs of an input are made in private slots, and
// copied from there one by one into the ring. A successor reads the number of outputs of its
// epoch from the header of the last slot. Empty slots and padding of inputs are skipped.
//
// One replica's; one thread. Nothing here allocates unless a sample fails.

#include <cstdint>
#include <memory>
#include <vector>

#include <brigade/stage.h>
#include "pipeline/records/staging_slots.h"
#include "pipeline/worker/tasks/error_policy.h"
#include "pipeline/worker/tasks/loop_counters.h"
#include "pipeline/worker/tasks/quarantine.h"
#include "pipeline/worker/tasks/stream_position.h"
#include "transports/flat_map_run.h"

namespace brigade {

class ReindexLoop {
 public:
  /// `spins`: attempts before sleeping.
  ReindexLoop(const ReplicaContext& context, Stage& stage, int spins);

  /// An error ends the run.
  Result<void> run();

  // Of FlatMapRun:
  Result<FlatMapInput> look(int port, std::uint64_t number);
  void write(int port, std::uint64_t i, std::uint64_t number, std::uint64_t epoch);
  void pad(std::uint64_t number, std::uint64_t epoch);
  void done(const FlatMapInput& input);
  Result<void> tell(std::uint64_t epoch);
  void interrupt() { counters_.interrupt_task(); }
  void begin_wait(Cause cause) { counters_.begin_wait(cause); }
  void end_wait(Cause cause) { counters_.end_wait(cause); }

 private:
  /// One input.
  struct Port {
    RecordReader reader;
    std::unique_ptr<StagingSlots> slots;  // what its samples are made into
  };

  void add_port(QueueNumber queue);
  Result<std::uint64_t> call(int port, std::uint64_t number, SlotCounts& counts);
  /// Of the next slot, in this epoch.
  std::uint64_t index_in(std::uint64_t epoch);

  ReplicaContext context_;
  Stage* stage_;
  int spins_;
  ErrorPolicy errors_;
  Quarantine quarantine_;
  LoopCounters counters_;
  Numbered<int, Port> ports_;
  ByQueue<std::uint64_t> multiples_;  // L of their index spaces
  const SlotRing* ring_;
  StreamPosition place_;
  SystemPolicy::Atomic<std::uint64_t>* in_flight_;
};

}  // namespace brigade
