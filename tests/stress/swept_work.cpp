#include <algorithm>

#include <brigade/text.h>
#include "tests/stress/swept_line.h"
#include "transports/stop.h"
#include "transports/wait.h"

namespace brigade::stress {

// --- slots
// ----------------------------------------------------------------------------------------

namespace {

std::uint64_t payload_word(std::uint64_t id, std::uint64_t i) {
  return support::next_value(0, id + i);
}

}  // namespace

bool SweptLine::must_be_empty(StageNumber stage, std::uint64_t slot) const {
  const std::uint64_t sample = slot / shape_of(stage).fan_out;
  const auto& inputs = shape_of(stage).queues[0].inputs;
  return (inputs.empty() && is_swept_empty(sample)) ||
         std::any_of(inputs.begin(), inputs.end(),
                     [&](StageNumber input) { return must_be_empty(input, sample); });
}

void SweptLine::write_slot(StageNumber stage, const SlotHeader& header) {
  const SlotRing& ring = rings_[stage];
  *ring.headers(header.number) = header;
  auto* words = reinterpret_cast<volatile std::uint64_t*>(ring.slot(0, header.number));
  for (std::uint64_t i = 0; i < kSweptPayloadWords; ++i) words[i] = payload_word(header.id, i);
}

void SweptLine::spoil_slots(StageNumber stage, std::uint64_t task) {
  const StageShape& shape = shape_of(stage);
  const std::uint64_t slots = shape.queues[0].task * shape.fan_out;
  for (std::uint64_t slot = task * slots; shape.slots > 0 && slot < (task + 1) * slots; ++slot) {
    *rings_[stage].headers(slot) = {kNever, 0, 0, 0, SlotState::pad, {}};
  }
}

SlotState SweptLine::check_input(StageNumber input, std::uint64_t number) {
  const SlotRing& ring = rings_[input];
  const SlotHeader header = *ring.headers(number);
  bool good = header.number == number;
  if (!is_merge(input)) {
    good = good && header.id == support::expected_value(shape_, input, number) &&
           header.state == (must_be_empty(input, number) ? SlotState::empty : SlotState::full);
  }
  const auto* words = reinterpret_cast<const std::uint64_t*>(ring.slot(0, number));
  for (std::uint64_t i = 0; i < kSweptPayloadWords; ++i) {
    good = good && words[i] == payload_word(header.id, i);
  }
  if (!good)
    say(concat("slot ", number, " of stage ", input.value(), " was read, and is not whole"));
  return header.state;
}

/// Reads the inputs of a task and writes its slots; the same in the victim and in the hands.
SlotCounts SweptLine::work(StageNumber stage, std::uint64_t task) {
  const StageShape& shape = shape_of(stage);
  const std::uint64_t size = shape.queues[0].task;
  SlotCounts counts;
  for (std::uint64_t sample = task * size; sample < (task + 1) * size; ++sample) {
    SlotState state = shape.queues[0].inputs.empty() && is_swept_empty(sample) ? SlotState::empty
                                                                               : SlotState::full;
    for (const StageNumber input : shape.queues[0].inputs) {
      const SlotState above = check_input(input, sample);
      if (above != SlotState::full) state = above;
      if (is_merge(input)) {
        worker_pool_.seen.push_back(rings_[input].headers(sample)->id);
      }
    }
    if (state != SlotState::full) ++(state == SlotState::pad ? counts.pads : counts.empty_slots);
    for (std::uint64_t i = 0; shape.slots > 0 && i < shape.fan_out; ++i) {
      const std::uint64_t slot = sample * shape.fan_out + i;
      write_slot(stage, {slot, slot, support::expected_value(shape_, stage, slot), 0, state, {}});
    }
  }
  return counts;
}

// --- its life ----------------------------------------------------------------------------------

int SweptLine::live(int tasks, void (*watermark)()) {
  Control<SystemPolicy> control =
      attach_control<SystemPolicy>(memory_.data(), control_bytes<H>(shape_), shape_).value();
  return is_merge(victim_stage_) ? live_as_merge(control, watermark)
                                 : live_in_stage(control, tasks, watermark);
}

template <class P>
int SweptLine::live_in_stage(Control<P>& control, int tasks, void (*watermark)()) {
  Channel<P> channel(control, victim_stage_, 0, 0);
  watermark();
  for (int i = 0; i < tasks; ++i) {
    enter(Section::claim);
    Attempt<P> claim = channel.try_claim();
    if (claim.look != Look::claimed) {
      enter(Section::wait);
      claim = claim_or_wait<P>(control, victim(), 0, [&] { return channel.try_claim(); });
    }
    if (claim.look == Look::ended) break;
    enter(Section::work);
    const SlotCounts counts = work(victim_stage_, claim.task);
    enter(Section::finish);
    channel.finish(claim.task, counts);
  }
  watermark();
  return worker_pool_.problem.empty() ? 0 : 1;
}

template <class P>
int SweptLine::live_as_merge(Control<P>& control, void (*watermark)()) {
  Merge merge{this};
  ByQueue<std::uint64_t> multiples(static_cast<std::size_t>(spec_.merged) + 1, 1);
  multiples[0] = shape_.stages.back().queues[0].task;
  FlatMapRun<P, Merge> run(control, victim_stage_, multiples, 0, merge);
  watermark();
  enter(Section::claim);
  if (!run.run().ok()) say("the merge failed");
  watermark();
  return worker_pool_.problem.empty() ? 0 : 1;
}

Result<FlatMapInput> SweptLine::Merge::look(int port, std::uint64_t number) {
  line->enter(Section::work);
  sample = number;
  FlatMapInput input;
  if (line->check_input(StageNumber(port), number) == SlotState::empty) {
    ++input.not_full.empty_slots;
  } else {
    input.outputs = outputs_of(number);
  }
  line->enter(Section::journal);
  return input;
}

void SweptLine::Merge::write(int port, std::uint64_t i, std::uint64_t number, std::uint64_t epoch) {
  line->enter(Section::work);
  line->write_slot(line->victim_stage_, {number,
                                         number,
                                         output_value(port, sample, i),
                                         static_cast<std::uint32_t>(epoch),
                                         SlotState::full,
                                         {}});
  line->enter(Section::finish);
}

void SweptLine::Merge::pad(std::uint64_t number, std::uint64_t epoch) {
  line->enter(Section::work);
  line->write_slot(line->victim_stage_,
                   {number, number, 0, static_cast<std::uint32_t>(epoch), SlotState::pad, {}});
  line->enter(Section::finish);
}

void SweptLine::live_as_merge_in_hands() {
  live_as_merge(control_, [] {});
}

}  // namespace brigade::stress
