// A program that takes tasks as they finish above it (`order: any`): which it looks at, what it
// claims, and the watermark above that it brings along before it finishes one.

#include <algorithm>

#include "tests/model/replica_steps.h"

namespace brigade::model {

void ReplicaSteps::look_at_window(int end) {
  r_.limit = static_cast<uint8_t>(end / stage_.task_size);
  go(At::kOwnWindow);
}

void ReplicaSteps::load_own_window() {
  const int passed = state_.level[watermark_number()] / stage_.task_size;
  r_.beyond = static_cast<uint8_t>(std::min<int>(r_.limit, passed + watermark().window));
  r_.task = r_.cursor;
  look_at_any_task();
}

void ReplicaSteps::look_at_any_task() {
  r_.seen = r_.seen_tag = r_.looked = 0;
  if (r_.task < r_.beyond) return go(At::kWord);
  const bool claimed_all = r_.cursor >= r_.limit;
  r_.task = r_.cursor;
  r_.limit = r_.beyond = 0;
  if (claimed_all) return all_done();  // it need not wait for what it holds
  must_wait(watermark().inputs.front());
}

void ReplicaSteps::pass_over() {
  if (r_.task == r_.cursor) ++r_.cursor;
  ++r_.task;
  look_at_any_task();
}

void ReplicaSteps::not_done_above() {
  ++r_.task;
  look_at_any_task();
}

// The watermark of input `index` has not come to the task: what do the words say?
void ReplicaSteps::look_at_words_above() {
  const Watermark& input = graph_.watermark(watermark().inputs[r_.index]);
  if (!input.words) return not_done_above();
  r_.looked = static_cast<uint8_t>(first_sample() / input.task_size);
  go(At::kInputWord, r_.index);
}

bool ReplicaSteps::done_above() const {
  const Word& word = shared_.word(watermark().inputs[r_.index], r_.looked);
  if (word.number != r_.looked) return word.number > r_.looked;
  return word.tag % 4 == kDone || (faulty(Fault::kTakesWhatIsClaimed) && word.tag % 4 == kClaimed);
}

void ReplicaSteps::load_input_word() {
  if (!done_above()) return not_done_above();
  const Watermark& input = graph_.watermark(watermark().inputs[r_.index]);
  if (++r_.looked * input.task_size < past_sample()) return go(At::kInputWord, r_.index);
  r_.looked = 0;
  look_for_input(r_.index + 1);
}

// Whoever has stored DONE above may not have moved the watermark there yet: it must not fall behind
// that of the program, which lets the words be used for later tasks.
void ReplicaSteps::done_next() {
  if (!stage_.any_order || faulty(Fault::kNotBroughtAlong)) return go(At::kDone);
  bring_along(0);
}

void ReplicaSteps::bring_along(int input) {
  const auto& inputs = watermark().inputs;
  const auto has_words = [&](int i) {
    return graph_.watermark(inputs[static_cast<size_t>(i)]).words;
  };
  while (input < static_cast<int>(inputs.size()) && !has_words(input)) ++input;
  r_.seen = 0;
  if (input < static_cast<int>(inputs.size())) return go(At::kBringLevel, input);
  if (r_.moved != 0) return wake(Then::kFinish);
  go(At::kDone);
}

void ReplicaSteps::load_level_above() {
  r_.seen = state_.level[watermark().inputs[r_.index]];
  go(At::kBringWord, r_.index);
}

void ReplicaSteps::load_word_above() {
  using Passable = SharedMemory::Passable;
  const Passable passable = shared_.look_at_level(watermark().inputs[r_.index], r_.seen);
  if (passable == Passable::kNo) return bring_along(r_.index + 1);
  if (passable == Passable::kYes) return go(At::kBringCas, r_.index);
  r_.seen = 0;
  go(At::kBringLevel, r_.index);
}

void ReplicaSteps::cas_level_above() {
  const int input = watermark().inputs[r_.index];
  if (shared_.move_level(input, r_.seen)) note_moved(input);
  r_.seen = 0;
  go(At::kBringLevel, r_.index);
}

}  // namespace brigade::model
