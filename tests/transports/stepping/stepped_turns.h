#pragma once

// One run of a small line under `join: epochs`: streams, whose epochs end where they say, at a
// multiple of L or with padding, and which go on at once with the next; and the replicas of a
// reader that takes an epoch of the first, the same epoch of the second, and so on. One of them may
// die at any step and is repaired and started again. Whenever the reader claims a task: every task
// of all turns before it is done. At the end: each row of each stream has been read once, with the
// label of its epoch.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/line.h"
#include "tests/transports/stepping/stepped_policy.h"
#include "transports/audit.h"
#include "transports/joined_lanes.h"
#include "transports/stop.h"
#include "transports/wait.h"

namespace brigade::stepping {

struct TurnsScenario {
  std::string name;
  /// By stream and epoch: how many samples it has.
  std::vector<std::vector<std::uint64_t>> samples;
  std::uint64_t rows = 2;   ///< of each stream's ring
  std::uint64_t batch = 1;  ///< of the reader: L
  int readers = 1;
  int victim_stage = -1;  ///< whose replica 0 may die; -1: nobody
  int deaths = 1;
  int detours = 2;
  bool store_buffers = true;
  bool records_late = false;  ///< a mistake: an end, after the first row beyond it is published
};

class SteppedTurns {
 public:
  explicit SteppedTurns(const TurnsScenario& scenario);

  /// Empty when everything held; else what did not.
  std::string run(Chooser& chooser);
  const std::string& trace() const { return trace_; }

 private:
  using P = SteppedPolicy;

  struct Row {
    std::uint64_t number = 0;
    std::uint64_t epoch = 0;
    bool padding = false;
  };

  static GraphShape shape_of(const TurnsScenario& scenario);
  int streams() const { return static_cast<int>(scenario_.samples.size()); }
  int reader() const { return streams(); }
  std::uint64_t closed(std::uint64_t number) const {
    return (number + scenario_.batch - 1) / scenario_.batch * scenario_.batch;
  }
  /// Where an epoch of a stream ends.
  std::uint64_t end_of(int stream, std::uint64_t epoch) const;
  std::uint64_t epoch_of(int stream, std::uint64_t number) const;

  void reset();
  std::uint64_t fingerprint() const;
  void start(int stage, int replica);
  void stream(int stage);
  void read(int replica);
  void check_turn(int lane, std::uint64_t first);
  RowCounts read_rows(int lane, std::uint64_t first);
  void note_commit(const Fiber& fiber);
  void supervisor();
  void check_marks();
  void check_the_end();

  const TurnsScenario& scenario_;
  const GraphShape shape_;
  support::LineMemory memory_;
  Control<P> control_;
  std::vector<std::vector<Row>> rows_;       // by stream
  std::vector<std::vector<int>> committed_;  // by stream and number, by the reader
  std::vector<std::uint64_t> lows_;
  std::vector<const Fiber*> workers_;
  bool dead_ = false;
  Fibers* fibers_ = nullptr;
  std::string trace_;
};

}  // namespace brigade::stepping
