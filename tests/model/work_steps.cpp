// work, finish and advance: slots in place, the tally, the one store that commits, and the
// watermark.

#include <algorithm>

#include "tests/model/replica_steps.h"

namespace brigade::model {

void ReplicaSteps::begin_work(int choice) {
  if (in_task(stage_.poison) && r_.seen == 0) {
    shared_.require(++state_.poison_deaths <= 2, "a quarantined sample killed a third replica");
    die();
    return set(kBlamed);
  }
  if (stage_.stream && !open_chunk(choice)) return go(At::kEndStore);
  if (faulty(Fault::kAckBeforeFinish) && is_source() && state_.stop[watermark().index_space] == 1) {
    r_.ack = 1;
  }
  shared_.check_inputs(watermark_number(), r_.task);
  shared_.check_output(watermark_number(), r_.task);
  for (int s = first_sample(); watermark().slots > 0 && s < past_sample(); ++s) {
    shared_.slot(watermark_number(), s) = Slot{static_cast<int8_t>(s), 1, 0, SlotKind::kFull};
  }
  go(At::kWorkEnd);
}

// A stream fills its chunk (choice 0), gives up waiting for more after max_wait (1), or is at the
// end of its data (2). False: there is nothing to write, only the end to be stored.
bool ReplicaSteps::open_chunk(int choice) {
  if (choice == 0 && !has(kPadding)) return true;
  if (stage_.replicas > 1) {  // its data are over, or others' were: the rest up to the end is PAD
    if (!has(kPadding)) set(kEnding);
    r_.empty_slots = static_cast<uint8_t>(stage_.task_size);
    return true;
  }
  const bool at_multiple = first_sample() % index_space().lcm == 0;
  const bool first = !has(kPadding);
  const bool ends = first && choice == 2;
  if (ends) set(kEnding);
  if (ends && at_multiple) {
    clear(kHolds);
    return false;
  }
  set(kPadding);
  const int real = first && choice == 1 ? stage_.task_size - 1 : 0;
  r_.empty_slots = static_cast<uint8_t>(stage_.task_size - real);
  return true;
}

SlotKind ReplicaSteps::kind_of(int position) const {
  const int s = first_sample() + position;
  SlotKind kind = SlotKind::kFull;
  if (stage_.stream && position >= stage_.task_size - r_.empty_slots) kind = SlotKind::kPad;
  if (is_source() && !stage_.stream && s % index_space().period >= stage_.size)
    kind = SlotKind::kPad;
  for (const int input : watermark().inputs) {
    const SlotKind in = shared_.slot(input, s).kind;
    if (in != SlotKind::kFull && kind != SlotKind::kPad) kind = in;
  }
  const unsigned dropped = stage_.filtered | stage_.failing | stage_.poison;
  if (kind == SlotKind::kFull && (dropped >> s & 1) != 0) kind = SlotKind::kEmpty;
  return kind;
}

void ReplicaSteps::end_work() {
  shared_.check_inputs(watermark_number(), r_.task);
  int empty_slots = 0;
  for (int i = 0; i < stage_.task_size; ++i) {
    const SlotKind kind = kind_of(i);
    empty_slots += kind == SlotKind::kFull ? 0 : 1;
    if (watermark().slots == 0) continue;
    Slot& slot = shared_.slot(watermark_number(), first_sample() + i);
    shared_.require(slot.number == first_sample() + i && slot.being_written != 0,
                    "somebody else wrote a slot of the task in flight");
    slot.being_written = 0;
    slot.kind = kind;
  }
  r_.empty_slots = static_cast<uint8_t>(empty_slots);
  r_.seen = 0;
  shared_.require(empty_slots == 0 || graph_.scenario().tallies, "empty slots without tallies");
  if (faulty(Fault::kSkipAfterDone)) return write_tally_or_finish();
  list_skip_or_go_on();
}

int ReplicaSteps::failing_sample() const {
  for (int s = first_sample(); s < past_sample(); ++s) {
    if ((stage_.failing >> s & 1) != 0) return s;
  }
  return -1;
}

void ReplicaSteps::list_skip_or_go_on() {
  if (failing_sample() >= 0) return go(At::kSkipLook);
  after_work();
}

void ReplicaSteps::after_work() {
  if (has(kHolds)) return write_tally_or_finish();
  after_finish();
}

void ReplicaSteps::look_at_skips() {
  const int found = state_.skips[r_.index];
  const bool listed = found == failing_sample() + 1;
  if (listed && !faulty(Fault::kSkipWithoutLooking)) return after_work();
  go(found == 0 ? At::kSkipAppend : At::kSkipLook, found == 0 ? r_.index : r_.index + 1);
}

void ReplicaSteps::append_skip() {
  uint8_t& entry = state_.skips[r_.index];
  if (entry != 0) return go(At::kSkipLook, r_.index);  // lost: look at what came in between
  entry = static_cast<uint8_t>(failing_sample() + 1);
  after_work();
}

void ReplicaSteps::write_tally_or_finish() {
  const bool entry =
      graph_.scenario().sparse_tallies ? r_.empty_slots > 0 : graph_.scenario().tallies;
  const bool now = entry && !faulty(Fault::kTallyAfterDone);
  go(now ? At::kTallySlots : At::kDone);
}

// The entry with the smaller sequence number is overwritten; the other one counts meanwhile.
TallyEntry& ReplicaSteps::next_tally_entry() {
  if (faulty(Fault::kOneTallyEntry)) return r_.tally[0];
  return r_.tally[r_.newest == Newest::kFirst ? 1 : 0];
}

void ReplicaSteps::store_tally_slots() {
  const TallyEntry& last =
      r_.tally[faulty(Fault::kOneTallyEntry) || r_.newest == Newest::kFirst ? 0 : 1];
  next_tally_entry().not_full = static_cast<uint8_t>(last.not_full + r_.empty_slots);
  go(At::kTallyTask);
}

void ReplicaSteps::store_tally_task() {
  next_tally_entry().watermark = static_cast<uint8_t>(watermark_number());
  next_tally_entry().task = r_.task;
  go(At::kTallyNumber);
}

void ReplicaSteps::store_tally_number() {
  const bool second = r_.newest == Newest::kFirst && !faulty(Fault::kOneTallyEntry);
  r_.newest = second ? Newest::kSecond : Newest::kFirst;
  if (has(kHolds)) return go(At::kDone);
  after_finish();
}

void ReplicaSteps::finish() {
  if (watermark().words) {
    const Word& word = shared_.word(watermark_number(), r_.task);
    shared_.require(word.number == r_.task && owned(word, me_),
                    "a claim was taken from a living replica");
  }
  const bool plain = faulty(watermark().words ? Fault::kPlainDone : Fault::kPlainLevel);
  if (plain) {
    set(kStorePending);
  } else {
    commit(r_.task);
  }
  if (stage_.fixed) ++r_.tasks_done;
  clear(kHolds);
  if (faulty(Fault::kSkipAfterDone)) return list_skip_or_go_on();
  if (faulty(Fault::kTallyAfterDone)) return go(At::kTallySlots);
  after_finish();
}

void ReplicaSteps::flush() {
  clear(kStorePending);
  commit(watermark().words ? r_.task : r_.task - 1);
}

// The store becomes visible. Without a fault that is at once.
void ReplicaSteps::commit(int task) {
  shared_.commit(watermark_number(), task, r_.empty_slots);
  if (watermark().words) {
    shared_.word(watermark_number(), task).tag = tag(kDone, 0);  // nobody asks who
    return;
  }
  uint8_t& level = state_.level[watermark_number()];
  shared_.require(level == task * stage_.task_size, "the watermark moved under its only writer");
  level = static_cast<uint8_t>(level + stage_.task_size);
}

void ReplicaSteps::after_finish() {
  if (watermark().words) return go(At::kAdvanceLevel);
  note_moved(r_.table);
  after_advance();
}

void ReplicaSteps::note_moved(int table) { r_.moved = static_cast<uint8_t>(r_.moved | bit(table)); }

void ReplicaSteps::load_level() {
  r_.seen = state_.level[watermark_number()];
  go(At::kAdvanceWord);
}

void ReplicaSteps::load_word_at_level() {
  using Passable = SharedMemory::Passable;
  Passable passable = shared_.look_at_level(watermark_number(), r_.seen);
  if (has(kStorePending) && r_.seen == first_sample()) passable = Passable::kYes;  // its own store
  if (passable == Passable::kNo) return after_advance();
  if (passable == Passable::kYes) return go(At::kAdvanceCas);
  r_.seen = 0;
  go(At::kAdvanceLevel);
}

void ReplicaSteps::cas_level() {
  if (shared_.move_level(watermark_number(), r_.seen)) note_moved(r_.table);
  r_.seen = 0;
  go(At::kAdvanceLevel);
}

void ReplicaSteps::after_advance() {
  if (stage_.stream && stage_.replicas > 1 && has(kEnding)) return wake(Then::kStopAtEndOfData);
  const bool chunk_ends =
      stage_.stream && stage_.replicas == 1 && past_sample() % index_space().lcm == 0;
  if (chunk_ends) clear(kPadding);
  if (!watermark().words) ++r_.task;
  wake(chunk_ends && has(kEnding) ? Then::kStoreEnd : Then::kClaimNext);
}

// Several replicas cannot know how far the others are: the last one to acknowledge finds the end.
void ReplicaSteps::stop_at_end_of_data() {
  clear(kEnding);
  const int d = watermark().index_space;
  if (faulty(Fault::kEndOfDataAlone)) {
    state_.end[d] = static_cast<uint8_t>(std::min<int>(state_.end[d], past_sample()));
    r_.bits = static_cast<uint8_t>(index_space().replicas & ~bit(me_));
    return go(At::kEndRing);
  }
  acknowledge_end_of_data();
}

// Nobody who has acknowledged claims anything, so the last one sees all claims there are.
void ReplicaSteps::acknowledge_end_of_data() {
  const int d = watermark().index_space;
  const bool first = r_.ack == 0;
  r_.ack = 1;
  if (first || state_.stop[d] != 0) return claim_next();
  const int end = std::min<int>(state_.end[d], shared_.claimed_up_to(d));
  shared_.check_lowered_end(d, end);
  state_.end[d] = static_cast<uint8_t>(end);
  state_.stop[d] = 2;
  r_.bits = static_cast<uint8_t>(index_space().replicas & ~bit(me_));
  go(At::kEndRing);
}

}  // namespace brigade::model
