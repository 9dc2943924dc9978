#pragma once

// A small line in memory shared with one more process, the victim: replica 0 of one stage. All
// other replicas are hands that the test moves, one look or one task at a time, so that what
// happens after a death is a pure function of the shared bytes and of where the hands stand.
//
// HandsPolicy is SystemPolicy but for the futex: a hand that sleeps is awake again only when
// somebody calls wake() on its doorbell (not when the doorbell's number changes), as in the kernel.
// So a victim that dies between the two leaves its neighbour asleep.

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/line.h"
#include "transports/audit.h"
#include "transports/channel.h"
#include "transports/flat_map_run.h"
#include "transports/joined_queues.h"
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

  static inline std::vector<const void*> rung;  ///< doorbells, not yet given to their hands
  static inline std::function<void(std::atomic<std::uint32_t>&)> asleep;
};

/// Of a stream, in the order of two steps: a death between them must show it.
enum class StreamMistake : std::uint8_t {
  none,
  padding_before_end,   ///< one replica: padding is published before its end is recorded
  acknowledged_in_work  ///< several: with the last sample in work, not once it is done
};

struct SweptSpec {
  std::string name;
  ByStage<support::StageSpec> stages;
  std::uint64_t samples = 8;
  int merged = 0;  ///< sources 0 .. merged-1 are numbered anew by the stage after them; 0: none
  WakeOrder order = WakeOrder::by_sleeper;
  /// A line with a stage that has two task queues: its last one, which reads the first two, or
  /// under `cache` its second one, which keeps what it reads and gives what it has kept.
  std::optional<Interleave> join = {};
  /// Stage 0 is a stream: the samples of its epochs, or, where it has several replicas, of these.
  std::vector<std::uint64_t> streamed = {};
  StreamMistake mistake = StreamMistake::none;

  StageNumber joined_stage() const {
    return join == Interleave::cache ? StageNumber(1) : StageNumber(2);
  }
  friend void PrintTo(const SweptSpec& spec, std::ostream* out) { *out << spec.name; }
};

/// When the successor of a dead replica starts. Before the repair is a mistake that tests must
/// notice; never is what remains when its restarts are used up.
enum class Restart : std::uint8_t { after_repair, before_repair, never };

struct Aftermath {
  RepairRules rules;
  bool late = false;  ///< the others first go on until they are stuck
  Restart restart = Restart::after_repair;
};

/// What the victim is doing; for the figures.
enum class Section : int { claim, wait, work, finish, journal, end, count_ };

inline constexpr std::uint64_t kSweptPayloadWords = 4;
inline constexpr std::uint64_t kSweptPayloadBytes = kSweptPayloadWords * sizeof(std::uint64_t);

/// Of a line whose epochs have turns.
inline constexpr std::uint64_t kSweptEpochs = 2;

inline bool is_swept_empty(std::uint64_t sample) { return sample % 3 == 1; }
/// How many outputs a merge makes of a sample, and what they are; never 0, which is padding.
inline std::uint64_t outputs_of(std::uint64_t sample) {
  return is_swept_empty(sample) ? 0 : (sample + 2) % 3;
}
inline std::uint64_t output_value(int port, std::uint64_t sample, std::uint64_t i) {
  return 1000 * static_cast<std::uint64_t>(port + 1) + 10 * sample + i + 1;
}

class SweptLine {
 public:
  SweptLine(const SweptSpec& spec, StageNumber victim_stage);

  /// `steps` random moves of all replicas; afterwards the victim's holds nothing.
  void play(int steps, std::uint64_t seed);

  /// In the victim: up to `tasks` tasks by the real code; calls `watermark` before and after them.
  int live(int tasks, void (*watermark)());
  Section section() const { return static_cast<Section>(*section_); }

  /// The victim woke a futex.
  void note_wake(const void* doorbell) { HandsPolicy::rung.push_back(doorbell); }
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
    JoinedQueues<H> queues;
    StageNumber stage = 0;
    int replica = 0;
    State state = State::looking;
    QueueNumber queue = 0;
    std::uint64_t task = 0;
    std::vector<Watermark<H>*> waits_on = {};
    bool rung = false;
  };
  /// Everything that changes and is not in shared memory.
  struct WorkerPool {
    ByReplica<Hand> hands;
    ByStage<ByQueue<std::vector<int>>> finished;  // by task
    std::vector<std::uint64_t> seen;              // by the reader of a merge or a stream
    std::string problem;
    bool gave_up = false;  // on the victim of a stream with several replicas
  };

  static SharedShape shape_from(const SweptSpec& spec);
  const StageShape& shape_of(StageNumber stage) const { return shape_.stages[stage]; }
  bool is_merge(StageNumber stage) const { return shape_of(stage).journal_ports > 0; }
  bool is_stream(StageNumber stage) const { return !spec_.streamed.empty() && stage == 0; }
  /// As a victim and as a successor it runs its own loop.
  bool has_own_loop(StageNumber stage) const { return is_merge(stage) || is_stream(stage); }
  int victim() const { return shape_of(victim_stage_).first_replica; }
  Hand new_hand(StageNumber stage, int replica);
  void say(std::string problem);

  bool move(Hand& hand);
  void found(Hand& hand, const Attempt<H>& attempt);
  void lie_down(Hand& hand, const Attempt<H>& blocked);
  void complete_task(Hand& hand);
  void hand_out_wakes();
  /// One move of everybody; false: nobody could.
  bool move_all();
  void run_to_the_end();

  /// The flat_map stage, for FlatMapRun.
  struct Merge {
    SweptLine* line;
    std::uint64_t sample = 0;

    Result<FlatMapInput> look(int port, std::uint64_t number);
    void write(int port, std::uint64_t i, std::uint64_t number, std::uint64_t epoch);
    void pad(std::uint64_t number, std::uint64_t epoch);
    void done(const FlatMapInput&) {}
    Result<void> tell(std::uint64_t) { return {}; }
    void interrupt() {}
    void begin_wait(Cause) { line->enter(Section::wait); }
    void end_wait(Cause) {}
  };

  SlotCounts work(StageNumber stage, QueueNumber queue, std::uint64_t task);
  void check_turn(StageNumber stage, QueueNumber queue, std::uint64_t task);
  SlotState check_input(StageNumber input, std::uint64_t number);
  void check_said(StageNumber input, std::uint64_t first, std::uint64_t count);
  void write_slot(StageNumber stage, const SlotHeader& header);
  void spoil_slots(StageNumber stage, QueueNumber queue, std::uint64_t task);
  template <class P>
  JoinedQueues<P> queues_of(Control<P>& control, StageNumber stage, int replica);
  bool must_be_empty(StageNumber stage, std::uint64_t slot) const;
  void enter(Section section) { *section_ = static_cast<int>(section); }
  template <class P>
  int live_in_stage(Control<P>& control, int tasks, void (*watermark)());
  template <class P>
  int live_as_merge(Control<P>& control, void (*watermark)());
  template <class P>
  int live_as_stream(Control<P>& control, void (*watermark)());
  template <class P>
  void live_as_whole_stream(Control<P>& control, void (*watermark)());
  template <class P>
  void live_as_shared_stream(Control<P>& control, void (*watermark)());
  template <class P>
  Attempt<P> claim_of_stream(Control<P>& control, JoinedQueues<P>& queues);
  void live_in_hands();

  void check_padding(const SlotHeader& header);
  std::uint64_t given(int replica) const;
  bool has_more(int replica) const;
  SlotCounts share(int replica, std::uint64_t task, bool over);
  SlotCounts share_in_hands(int replica, std::uint64_t task);
  bool rests(Hand& hand);
  void give_up_stream();

  void note_commits_of_victim();
  bool is_committed(StageNumber stage, QueueNumber queue, std::uint64_t task) const;
  void check_bits_of_victim();
  void check_the_end();
  void check_queue(StageNumber stage, QueueNumber queue);
  void check_audit(StageNumber writer, StageNumber reader, QueueNumber queue, std::uint64_t full);
  void check_merge();
  void check_stream();
  std::uint64_t end_of(StageNumber stage, QueueNumber queue) const;

  const SweptSpec spec_;
  const StageNumber victim_stage_;
  const SharedShape shape_;
  Mapping memory_;
  Mapping section_memory_;
  volatile int* section_;
  std::uint64_t bytes_ = 0;
  Control<H> control_;
  ByStage<SlotRing> rings_;
  std::atomic<std::uint64_t>* kept_ = nullptr;  // by sample, of a cache
  WorkerPool worker_pool_;
};

}  // namespace brigade::stress
