#pragma once

// What replicas and the supervisor do to the shared words, and the properties that are checked
// while they do it. One object lives for one step.

#include "tests/model/graph.h"
#include "tests/model/protocol_state.h"

namespace brigade::model {

struct SharedMemory {
  const Graph& graph;
  State& state;
  const char* broken = nullptr;  // the first property that this step broke

  void require(bool holds, const char* property) {
    if (!holds && broken == nullptr) broken = property;
  }

  Word& word(int watermark, int task) const {
    return state.word[watermark][task % graph.watermark(watermark).window];
  }
  Slot& slot(int watermark, int sample) const {
    return state.slot[watermark][sample % graph.watermark(watermark).slots];
  }

  // doorbell++. Only "has it changed since it was read" matters.
  void ring(int replica) {
    uint8_t& flags = state.replica[replica].flags;
    if ((flags & kDoorbellRead) != 0) flags |= kRung;
  }
  // Rings one of the replicas in `bits`: lower stages first, within a stage in any order.
  bool may_ring(uint8_t bits, int choice) const { return doorbell_at(bits, choice) >= 0; }
  void ring_one_of(uint8_t& bits, int choice) {
    const int replica = doorbell_at(bits, choice);
    ring(replica);
    bits = static_cast<uint8_t>(bits & ~(1 << replica));
  }
  int doorbell_at(uint8_t bits, int choice) const;

  // One pass of advance's loop over a task word: is the task at `level` DONE, and not yet passed?
  enum class Passable : uint8_t { kPassedAlready, kYes, kNo };
  Passable look_at_level(int watermark, int level) {
    const int task = level / graph.watermark(watermark).task_size;
    const Word& word = this->word(watermark, task);
    if (word.number > task) return Passable::kPassedAlready;
    return word.number == task && word.tag % 4 == kDone ? Passable::kYes : Passable::kNo;
  }
  bool move_level(int watermark, int from);
  void commit(int watermark, int task, int empty_slots);
  bool committed(int watermark, int sample) const;

  // The tally entry of a replica with the larger sequence number, and whether it counts: when its
  // task is not CLAIMED by the replica any more (one replica without words: below the watermark).
  int newest_entry(int replica) const;
  bool counts(int replica, const TallyEntry& entry) const;
  int counting_entry(int replica) const;

  // Stops: have all replicas of the index space's sources acknowledged (the supervisor also counts
  // those that are gone), and L above all they have claimed.
  bool all_acknowledged(int index_space) const;
  bool all_or_gone_acknowledged(int index_space) const;
  int claimed_up_to(int index_space) const;

  // properties.cpp: each sets `broken` where the property does not hold.
  void check_claim(int replica, int watermark, int task);
  void check_inputs(int watermark, int task);
  void check_output(int watermark, int task);
  void check_lowered_end(int index_space, int end);
};

// Every property of a state in which nobody moves any more; nullptr: all hold.
const char* check_at_rest(const SharedMemory& shared);

inline constexpr uint8_t tag(WordState state, int owner) {
  return static_cast<uint8_t>(state + 4 * owner);
}
inline constexpr bool owned(const Word& word, int owner) {
  return word.tag == tag(kClaimed, owner);
}
inline constexpr uint8_t bit(int number) { return static_cast<uint8_t>(1 << number); }
inline constexpr bool is_gone(At at) {
  return at == At::kLeft || at == At::kDead || at == At::kReaped;
}

}  // namespace brigade::model
