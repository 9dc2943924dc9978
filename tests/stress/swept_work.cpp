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

void SweptLine::spoil_slots(StageNumber stage, QueueNumber queue, std::uint64_t task) {
  const StageShape& shape = shape_of(stage);
  const std::uint64_t slots = shape.queues[0].task * shape.fan_out;
  if (shape.slots == 0 || queue > 0) return;
  for (std::uint64_t slot = task * slots; slot < (task + 1) * slots; ++slot) {
    *rings_[stage].headers(slot) = {{kNever, 0, 0, 0}, SlotState::pad};
  }
}

SlotState SweptLine::check_input(StageNumber input, std::uint64_t number) {
  const SlotRing& ring = rings_[input];
  const SlotHeader header = *ring.headers(number);
  bool good = header.number == number;
  check_padding(header);
  if (!has_own_loop(input)) {
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

/// What headers say of those before them is so.
void SweptLine::check_said(StageNumber input, std::uint64_t first, std::uint64_t count) {
  const SlotHeader* const headers = rings_[input].headers(first);
  const bool full = std::all_of(headers, headers + count, [](const SlotHeader& header) {
    return header.state == SlotState::full;
  });
  if (are_full(headers, count) != full)
    say(concat("slots from ", first, " of stage ", input.value(), " are said to be full"));
}

/// Every task of every turn before that of this one is done.
void SweptLine::check_turn(StageNumber stage, QueueNumber queue, std::uint64_t task) {
  if (spec_.join != Interleave::epochs || stage != spec_.joined_stage()) return;
  const std::uint64_t tasks = spec_.samples / kSweptEpochs / shape_of(stage).queues[queue].task;
  for (const QueueNumber other : shape_of(stage).queues.numbers()) {
    const std::uint64_t epochs = task / tasks + (other < queue ? 1 : 0);
    for (std::uint64_t before = 0; other != queue && before < epochs * tasks; ++before) {
      if (!is_committed(stage, other, before))
        say(concat("task ", task, " of queue ", queue.value(), " comes before its turn"));
    }
  }
}

/// Reads the inputs of a task and writes its slots; the same in the victim and in the hands.
SlotCounts SweptLine::work(StageNumber stage, QueueNumber queue, std::uint64_t task) {
  const StageShape& shape = shape_of(stage);
  const bool caches = spec_.join == Interleave::cache && stage == spec_.joined_stage();
  const auto& inputs = shape.queues[queue].inputs;
  const std::uint64_t size = shape.queues[queue].task;
  SlotCounts counts;
  for (const StageNumber input : inputs) check_said(input, task * size, size);
  for (std::uint64_t sample = task * size; sample < (task + 1) * size; ++sample) {
    SlotState state = inputs.empty() && is_swept_empty(sample) ? SlotState::empty : SlotState::full;
    for (const StageNumber input : inputs) {
      const SlotState above = check_input(input, sample);
      if (above != SlotState::full) state = above;
      if (has_own_loop(input)) {
        worker_pool_.seen.push_back(rings_[input].headers(sample)->id);
      }
    }
    if (state != SlotState::full) ++(state == SlotState::pad ? counts.pads : counts.empty_slots);
    if (caches && queue == 1) kept_[sample].store(1, std::memory_order_release);
    if (caches && queue == 0 && kept_[sample].load(std::memory_order_acquire) == 0)
      say(concat("sample ", sample, " was given and is not kept"));
    for (std::uint64_t i = 0; shape.slots > 0 && queue == 0 && i < shape.fan_out; ++i) {
      const std::uint64_t slot = sample * shape.fan_out + i;
      write_slot(stage, {{slot, slot, support::expected_value(shape_, stage, slot), 0}, state});
    }
  }
  if (shape.slots > 0 && queue == 0 && counts.none())
    note_full(rings_[stage], task * size * shape.fan_out, size * shape.fan_out,
              shape.replicas == 1);
  return counts;
}

template <class P>
JoinedQueues<P> SweptLine::queues_of(Control<P>& control, StageNumber stage, int replica) {
  JoinedQueues<P> queues(control, stage, replica);
  if (spec_.join == Interleave::cache && stage == spec_.joined_stage()) {
    queues.give_up_to([this, stage] {
      std::uint64_t number = queue_level(control_, stage, 0);
      while (number < spec_.samples && kept_[number].load(std::memory_order_acquire) != 0) ++number;
      return number;
    });
  }
  return queues;
}

template JoinedQueues<HandsPolicy> SweptLine::queues_of(Control<HandsPolicy>&, StageNumber, int);

// --- its life ----------------------------------------------------------------------------------

int SweptLine::live(int tasks, void (*watermark)()) {
  Control<SystemPolicy> control =
      attach_control<SystemPolicy>(memory_.data(), control_bytes<H>(shape_), shape_).value();
  if (is_stream(victim_stage_)) return live_as_stream(control, watermark);
  return is_merge(victim_stage_) ? live_as_merge(control, watermark)
                                 : live_in_stage(control, tasks, watermark);
}

template <class P>
int SweptLine::live_in_stage(Control<P>& control, int tasks, void (*watermark)()) {
  JoinedQueues<P> queues = queues_of(control, victim_stage_, 0);
  watermark();
  for (int i = 0; i < tasks; ++i) {
    enter(Section::claim);
    Attempt<P> claim = queues.try_claim();
    if (claim.look != Look::claimed) {
      enter(Section::wait);
      claim = claim_or_wait<P>(
          control, victim(), 0, [&] { return queues.try_claim(); }, DoNothing{}, queues.watched());
    }
    if (claim.look == Look::ended) break;
    enter(Section::work);
    check_turn(victim_stage_, queues.queue(), claim.task);
    const SlotCounts counts = work(victim_stage_, queues.queue(), claim.task);
    enter(Section::finish);
    queues.finish(claim.task, counts);
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
  line->write_slot(line->victim_stage_, {{number, number, output_value(port, sample, i),
                                          static_cast<std::uint32_t>(epoch)},
                                         SlotState::full});
  line->enter(Section::finish);
}

void SweptLine::Merge::pad(std::uint64_t number, std::uint64_t epoch) {
  line->enter(Section::work);
  line->write_slot(line->victim_stage_,
                   {{number, number, 0, static_cast<std::uint32_t>(epoch)}, SlotState::pad});
  line->enter(Section::finish);
}

void SweptLine::live_in_hands() {
  if (is_stream(victim_stage_)) {
    live_as_stream(control_, [] {});
  } else {
    live_as_merge(control_, [] {});
  }
}

}  // namespace brigade::stress
