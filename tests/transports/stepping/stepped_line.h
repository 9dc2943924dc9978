#pragma once

// A run of a small line, and what must hold. After every step: every task below a watermark has
// been committed exactly once. Whenever a slot is read: it holds what was committed, from the
// beginning of the task to its end. At the end: everybody has left, the audit are exact, no bit is
// left behind.

#include <cstdint>
#include <vector>

#include "tests/transports/stepping/stepped_run.h"

namespace brigade::stepping {

/// Mistakes in the end that a stop sets.
enum class WrongEnd : std::uint8_t { none, not_rounded, of_watermark, without_doorbells };

struct Scenario : Events {
  using Run = class SteppedLine;
  ByStage<support::StageSpec> stages;
  std::uint64_t samples = 4;
  bool poison = false;  ///< a death with an in-flight sample puts it into quarantine
  /// Sources work on a sample only when everybody below has done those before it.
  bool waits_for_below = false;
  /// Whoever has the first task finishes it when the last stage has finished the second.
  bool first_waits_for_second = false;
  WrongEnd wrong_end = WrongEnd::none;
};

class SteppedLine : public SteppedRun {
 public:
  explicit SteppedLine(const Scenario& scenario);

 private:
  struct Slot {
    std::uint64_t number = 0;
    std::uint64_t value = 0;
    SlotState state = SlotState::pad;
  };
  struct StageState {
    std::vector<Slot> slots;
    std::vector<int> commits;                // by task
    std::vector<SlotState> committed_state;  // by slot
  };

  void reset() override;
  void live(StageNumber stage, int replica) override;
  void program(StageNumber stage);
  std::uint64_t own_state() const override;
  void passed(Fiber& fiber, FaultPoint point) override;
  void moved(StageNumber stage, std::uint64_t from, std::uint64_t to) override;
  std::vector<std::uint64_t> poisoned() const override;
  void lower_ends() override;
  void check_the_end() override;
  SlotCounts work(StageNumber stage, int replica, std::uint64_t task);
  Slot make_slot(StageNumber stage, std::uint64_t sample);
  bool is_done_below(std::uint64_t sample) const;
  void check_input(StageNumber stage, std::uint64_t sample);
  bool must_be_empty(StageNumber stage, std::uint64_t sample) const;
  bool is_poison_of(StageNumber stage, std::uint64_t sample) const;
  /// Samples of a stage's task queue at the end of the source.
  std::uint64_t samples_of(StageNumber stage) const {
    return scenario_.samples * support::queue_scale(shape_, stage);
  }
  void check_audit(StageNumber writer, StageNumber reader, std::uint64_t end);
  static bool is_empty(std::uint64_t sample) { return sample % 3 == 1; }

  const Scenario& scenario_;
  const std::uint64_t multiple_;
  ByStage<StageState> stages_;
};

}  // namespace brigade::stepping
