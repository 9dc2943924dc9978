// claim: look at the task under the cursor, from `repairs` to the compare-and-swap. The same
// steps check everything again between setting a bit in `waiters` and going to sleep.

#include "tests/model/replica_steps.h"

namespace brigade::model {

void ReplicaSteps::claim_next() {
  r_.empty_slots = r_.seen = r_.seen_tag = r_.bits = 0;
  const bool repairs_can_change = graph_.scenario().deaths > 0 || stage_.poison != 0;
  if (watermark().words && repairs_can_change) return go(At::kRepairs);
  look_at_stop();
}

void ReplicaSteps::load_repairs() {
  if (r_.repairs_changed == 0) return look_at_stop();
  r_.repairs_changed = 0;
  go(At::kCursor);
}

void ReplicaSteps::load_cursor() {
  r_.task = static_cast<uint8_t>(state_.level[watermark_number()] / stage_.task_size - 1);
  next_task();
}

// The next task that is this replica's to look at; also where the cursor starts.
void ReplicaSteps::next_task() {
  do {
    ++r_.task;
  } while (stage_.fixed && r_.task % stage_.replicas != graph_.number_in_stage(me_));
  if (has(kLooksAgain)) return stop_waiting();
  look_at_stop();
}

void ReplicaSteps::look_at_stop() {
  if (is_source() && graph_.stops()) return go(At::kStop);
  look_at_end();
}

void ReplicaSteps::load_stop() {
  const int stop = state_.stop[watermark().index_space];
  if (stop == 1) return r_.ack != 0 ? must_wait(kNoWatermark) : go(At::kAck);
  if (stop == 2 && stage_.stream) set(kPadding);
  if (stop == 0 && r_.ack != 0) {  // its data are over
    if (!shared_.all_acknowledged(watermark().index_space)) return must_wait(kNoWatermark);
    return has(kLooksAgain) ? stop_waiting() : go(At::kStopStore);
  }
  look_at_end();
}

void ReplicaSteps::store_ack() {
  r_.ack = 1;
  if (faulty(Fault::kAckThenClaim)) return look_at_end();
  if (has(kLooksAgain)) return stop_waiting();
  must_wait(kNoWatermark);
}

void ReplicaSteps::look_at_end() {
  if (graph_.end_may_change(watermark().index_space)) return go(At::kEnd);
  compare_with_end(index_space().end);
}

void ReplicaSteps::compare_with_end(int end) {
  const int epoch_end = (r_.epoch + 1) * index_space().period;
  const int limit = stage_.epochs && epoch_end < end ? epoch_end : end;
  if (first_sample() < limit) return look_for_memory(0);
  if (!watermark().words) return all_done();
  go(At::kOwnLevel);
  r_.seen = static_cast<uint8_t>(limit);
}

void ReplicaSteps::load_own_level() {
  const bool done = state_.level[watermark_number()] >= r_.seen;
  r_.seen = 0;
  if (done || (stage_.epochs && faulty(Fault::kEpochsUnordered))) return all_done();
  must_wait(watermark_number());
}

void ReplicaSteps::all_done() {
  if (has(kLooksAgain)) return stop_waiting();
  if (!stage_.epochs) return leave();
  const int period = r_.epoch * graph_.tables(stage_number_) + r_.table;
  if (r_.ended <= period) return go(At::kEndedStore);
  next_period();
}

void ReplicaSteps::store_ended() {
  ++r_.ended;
  next_period();
}

void ReplicaSteps::next_period() {
  const bool last_input = r_.table + 1 == graph_.tables(stage_number_);
  if (last_input && r_.epoch + 1 == graph_.scenario().epochs) return leave();
  r_.epoch = static_cast<uint8_t>(r_.epoch + (last_input ? 1 : 0));
  r_.table = static_cast<uint8_t>(last_input ? 0 : r_.table + 1);
  go(At::kCursor);
}

bool ReplicaSteps::writable(int reader) const {
  const int extra = faulty(Fault::kWindowTooLarge) ? stage_.task_size : 0;
  const int level = state_.level[watermark().readers[static_cast<size_t>(reader)]];
  return past_sample() <= level + watermark().slots + extra;
}

void ReplicaSteps::look_for_memory(int reader) {
  const bool all = reader == static_cast<int>(watermark().readers.size());
  if (all || (faulty(Fault::kClaimBeforeMemory) && !is_source())) return look_at_word();
  go(At::kWritable, reader);
}

void ReplicaSteps::load_reader_level() {
  if (!writable(r_.index)) return must_wait(watermark().readers[r_.index]);
  look_for_memory(r_.index + 1);
}

void ReplicaSteps::look_at_word() {
  if (watermark().words) return go(At::kWord);
  look_for_input(0);
}

bool ReplicaSteps::taken() const {
  const Word& word = shared_.word(watermark_number(), r_.task);
  return word.number > r_.task || (word.number == r_.task && word.tag % 4 != kOpen);
}

void ReplicaSteps::load_word() {
  if (taken()) return next_task();
  const Word& word = shared_.word(watermark_number(), r_.task);
  look_for_input(0);
  if (r_.at != At::kReadable && r_.at != At::kClaim) return;
  r_.seen = static_cast<uint8_t>(word.number);
  r_.seen_tag = word.tag;
}

bool ReplicaSteps::readable(int input) const {
  return past_sample() <= state_.level[watermark().inputs[static_cast<size_t>(input)]];
}

void ReplicaSteps::look_for_input(int input) {
  if (input == static_cast<int>(watermark().inputs.size())) return claimable();
  go(At::kReadable, input);
}

void ReplicaSteps::load_input_level() {
  if (!readable(r_.index)) return must_wait(watermark().inputs[r_.index]);
  look_for_input(r_.index + 1);
}

void ReplicaSteps::claimable() {
  if (has(kLooksAgain)) return stop_waiting();
  if (watermark().words) return go(At::kClaim);
  hold();
}

void ReplicaSteps::claim() {
  Word& word = shared_.word(watermark_number(), r_.task);
  if (word.number != static_cast<int8_t>(r_.seen) || word.tag != r_.seen_tag) {
    return look_at_word();  // lost
  }
  word.number = static_cast<int8_t>(r_.task);
  word.tag = tag(kClaimed, me_);
  hold();
}

void ReplicaSteps::hold() {
  r_.seen = r_.seen_tag = 0;
  set(kHolds);
  shared_.check_claim(me_, watermark_number(), r_.task);
  if (faulty(Fault::kClaimBeforeMemory) && !is_source()) return go(At::kHeldMemory);
  go(in_task(stage_.poison) ? At::kQuarantine : At::kWorkBegin);
}

}  // namespace brigade::model
