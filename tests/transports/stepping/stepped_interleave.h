#pragma once

// One run of a small line under `join: epochs`: streams, whose epochs end where they say, at a
// multiple of L or with padding, and which go on at once with the next; and the replicas of a
// reader that takes an epoch of the first, the same epoch of the second, and so on. One of them may
// die at any step and is repaired and started again. Whenever the reader claims a task: every task
// of all turns before it is done. At the end: each slot of each stream has been read once, with the
// label of its epoch.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/transports/stepping/stepped_run.h"
#include "transports/joined_queues.h"
#include "transports/stream_ends.h"

namespace brigade::stepping {

struct InterleaveScenario : Events {
  using Run = class SteppedInterleave;
  /// By stream and epoch: how many samples it has.
  std::vector<std::vector<std::uint64_t>> samples;
  std::uint64_t slots = 2;  ///< of each stream's ring
  std::uint64_t batch = 1;  ///< of the reader: L
  int readers = 1;
  bool records_late = false;  ///< a mistake: an end, after the first slot beyond it is published
};

class SteppedInterleave : public SteppedRun {
 public:
  explicit SteppedInterleave(const InterleaveScenario& scenario);

 private:
  struct Slot {
    std::uint64_t number = 0;
    std::uint64_t epoch = 0;
    bool padding = false;
  };

  static SharedShape line_of(const InterleaveScenario& scenario);
  int streams() const { return static_cast<int>(scenario_.samples.size()); }
  StageNumber reader() const { return StageNumber(streams()); }
  std::uint64_t closed(std::uint64_t number) const {
    return (number + scenario_.batch - 1) / scenario_.batch * scenario_.batch;
  }
  /// Where an epoch of a stream ends.
  std::uint64_t end_of(int stream, std::uint64_t epoch) const;
  std::uint64_t epoch_of(int stream, std::uint64_t number) const;

  void reset() override;
  void live(StageNumber stage, int replica) override {
    stage == reader() ? read(replica) : stream(stage.value());
  }
  std::uint64_t own_state() const override;
  void passed(Fiber& fiber, FaultPoint point) override;
  void check_the_end() override;
  void stream(int stage);
  void read(int replica);
  void check_turn(int queue, std::uint64_t first);
  SlotCounts read_slots(int queue, std::uint64_t first);

  const InterleaveScenario& scenario_;
  std::vector<std::vector<Slot>> slots_;     // by stream
  std::vector<std::vector<int>> committed_;  // by stream and number, by the reader
};

}  // namespace brigade::stepping
