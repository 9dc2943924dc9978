#pragma once

// A small line in memory shared with one more process, the victim: replica 0 of one stage. All
// other replicas are hands that the test moves, one look or one task at a time, so that what
// happens after a death is a pure function of the shared bytes and of where the hands stand.
//
// HandsPolicy is SystemPolicy but for the futex: a hand that sleeps is awake again only when
// somebody calls wake() on its bell (not when the bell's number changes), as in the kernel. So a
// victim that dies between the two leaves its neighbour asleep.

#include <atomic>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/stress/restart.h"
#include "tests/support/line.h"
#include "transports/audit.h"
#include "transports/channel.h"
#include "transports/free_run.h"
#include "transports/memory_file.h"
#include "transports/wait.h"

namespace brigade::stress {

struct HandsPolicy {
  template <class T>
  using Atomic = std::atomic<T>;

  static void point(FaultPoint) {}
  static void sleep(std::atomic<std::uint32_t>& word, std::uint32_t expected) {
    if (word.load() == expected) asleep(word);
  }
  static void wake(std::atomic<std::uint32_t>& word) { rung.push_back(&word); }
  static void relax() {}
  static void barrier_everywhere() {}  // between two steps of the victim, which stands still
  static void keep_order() {}

  static inline std::vector<const void*> rung;  ///< bells, not yet given to their hands
  static inline std::function<void(std::atomic<std::uint32_t>&)> asleep;
};

struct SweptSpec {
  std::string name;
  std::vector<support::StageSpec> stages;
  std::uint64_t samples = 8;
  int merged = 0;  ///< sources 0 .. merged-1 are numbered anew by the stage after them; 0: none

  friend void PrintTo(const SweptSpec& spec, std::ostream* out) { *out << spec.name; }
};

struct Aftermath {
  RepairRules rules;
  bool late = false;  ///< the others first go on until they are stuck
  Restart restart = Restart::after_repair;
};

/// What the victim is doing; for the figures.
enum class Section : int { claim, wait, work, finish, journal, count_ };

inline constexpr std::uint64_t kSweptPayloadWords = 4;
inline constexpr std::uint64_t kSweptPayloadBytes = kSweptPayloadWords * sizeof(std::uint64_t);

inline bool is_swept_hole(std::uint64_t sample) { return sample % 3 == 1; }
/// How many outputs a merge makes of a sample, and what they are; never 0, which is padding.
inline std::uint64_t outputs_of(std::uint64_t sample) {
  return is_swept_hole(sample) ? 0 : (sample + 2) % 3;
}
inline std::uint64_t output_value(int port, std::uint64_t sample, std::uint64_t i) {
  return 1000 * static_cast<std::uint64_t>(port + 1) + 10 * sample + i + 1;
}

class SweptLine {
 public:
  SweptLine(const SweptSpec& spec, int victim_stage);

  /// `steps` random moves of all replicas; afterwards the victim's holds nothing.
  void play(int steps, std::uint64_t seed);

  /// In the victim: up to `tasks` tasks by the real code; calls `mark` before and after them.
  int live(int tasks, void (*mark)());
  Section section() const { return static_cast<Section>(*section_); }

  /// The victim woke a futex.
  void note_wake(const void* bell) { HandsPolicy::rung.push_back(bell); }
  /// Moves the hands until somebody wakes the sleeping victim; false: nobody ever does.
  bool wake_victim();

  /// Every hand moves once, wherever the victim stands.
  void let_others_move() {
    hand_out_wakes();
    move_all();
  }

  /// What comes of it if the victim dies now: repair, successor, the run to the end. Empty: every
  /// invariant holds. Leaves everything as it was.
  std::string outcome_of_death(const Aftermath& aftermath);

  /// A number for all the bytes that the processes share.
  std::uint64_t fingerprint() const;
  int replicas_of_victim() const { return shape_of(victim_stage_).replicas; }

 private:
  using H = HandsPolicy;

  struct Hand {
    enum class State : std::uint8_t { looking, holding, asleep, left };
    Channel<H> channel;
    int stage = 0;
    int replica = 0;
    State state = State::looking;
    std::uint64_t task = 0;
    Mark<H>* waits_on = nullptr;
    bool rung = false;
  };
  /// Everything that changes and is not in shared memory.
  struct Crew {
    std::vector<Hand> hands;                 // by replica of the graph
    std::vector<std::vector<int>> finished;  // by stage, task
    std::vector<std::uint64_t> seen;         // by the reader of a merge
    std::string problem;
  };

  static GraphShape shape_from(const SweptSpec& spec);
  const StageShape& shape_of(int stage) const {
    return shape_.stages[static_cast<std::size_t>(stage)];
  }
  bool is_merge(int stage) const { return shape_of(stage).journal_ports > 0; }
  int victim() const { return shape_of(victim_stage_).first_replica; }
  Hand new_hand(int stage, int replica);
  void say(std::string problem);

  bool move(Hand& hand);
  void found(Hand& hand, const Attempt<H>& attempt);
  void lie_down(Hand& hand, const Attempt<H>& blocked);
  void complete_task(Hand& hand);
  void hand_out_wakes();
  /// One move of everybody; false: nobody could.
  bool move_all();
  void run_to_the_end();

  /// The stage that numbers its outputs freely, for FreeRun.
  struct Merge {
    SweptLine* line;
    std::uint64_t sample = 0;

    Result<FreeInput> look(int port, std::uint64_t number);
    void write(int port, std::uint64_t i, std::uint64_t number, std::uint64_t epoch);
    void pad(std::uint64_t number, std::uint64_t epoch);
    void done(const FreeInput&) {}
    Result<void> tell(std::uint64_t) { return {}; }
    void interrupt() {}
    void begin_wait(Cause) { line->enter(Section::wait); }
    void end_wait(Cause) {}
  };

  RowCounts work(int stage, std::uint64_t task);
  RowState check_input(int input, std::uint64_t number);
  void write_row(int stage, const RowHeader& header);
  void spoil_rows(int stage, std::uint64_t task);
  bool must_be_hole(int stage, std::uint64_t row) const;
  void enter(Section section) { *section_ = static_cast<int>(section); }
  template <class P>
  int live_in_stage(Control<P>& control, int tasks, void (*mark)());
  template <class P>
  int live_as_merge(Control<P>& control, void (*mark)());
  void live_as_merge_in_hands();

  void note_commits_of_victim();
  bool is_committed(int stage, std::uint64_t task) const;
  void check_the_end();
  void check_stage(int stage);
  void check_books(int writer, int reader, int lane, std::uint64_t full);
  void check_merge();
  std::uint64_t end_of(int stage) const;

  const SweptSpec spec_;
  const int victim_stage_;
  const GraphShape shape_;
  MappedMemory memory_;
  MappedMemory section_memory_;
  volatile int* section_;
  std::uint64_t bytes_ = 0;
  Control<H> control_;
  std::vector<RowPool> pools_;
  Crew crew_;
};

}  // namespace brigade::stress
