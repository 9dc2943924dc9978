#include <algorithm>

#include "base/text.h"
#include "tests/stress/swept_line.h"
#include "transports/stop.h"
#include "transports/wait.h"

namespace brigade::stress {

// --- rows ----------------------------------------------------------------------------------------

namespace {

std::uint64_t payload_word(std::uint64_t id, std::uint64_t i) {
  return support::next_value(0, id + i);
}

}  // namespace

bool SweptLine::must_be_hole(int stage, std::uint64_t row) const {
  const std::uint64_t sample = row / shape_of(stage).fan_out;
  const auto& inputs = shape_of(stage).lanes[0].inputs;
  return (inputs.empty() && is_swept_hole(sample)) ||
         std::any_of(inputs.begin(), inputs.end(),
                     [&](int input) { return must_be_hole(input, sample); });
}

void SweptLine::write_row(int stage, const RowHeader& header) {
  const RowPool& pool = pools_[static_cast<std::size_t>(stage)];
  *pool.headers(header.number) = header;
  auto* words = reinterpret_cast<volatile std::uint64_t*>(pool.row(0, header.number));
  for (std::uint64_t i = 0; i < kSweptPayloadWords; ++i) words[i] = payload_word(header.id, i);
}

void SweptLine::spoil_rows(int stage, std::uint64_t task) {
  const StageShape& shape = shape_of(stage);
  const std::uint64_t rows = shape.lanes[0].task * shape.fan_out;
  for (std::uint64_t row = task * rows; shape.rows > 0 && row < (task + 1) * rows; ++row) {
    *pools_[static_cast<std::size_t>(stage)].headers(row) = {kNever, 0, 0, 0, RowState::pad, {}};
  }
}

RowState SweptLine::check_input(int input, std::uint64_t number) {
  const RowPool& pool = pools_[static_cast<std::size_t>(input)];
  const RowHeader header = *pool.headers(number);
  bool good = header.number == number;
  if (!is_merge(input)) {
    good = good && header.id == support::expected_value(shape_, input, number) &&
           header.state == (must_be_hole(input, number) ? RowState::hole : RowState::full);
  }
  const auto* words = reinterpret_cast<const std::uint64_t*>(pool.row(0, number));
  for (std::uint64_t i = 0; i < kSweptPayloadWords; ++i) {
    good = good && words[i] == payload_word(header.id, i);
  }
  if (!good) say(concat("row ", number, " of stage ", input, " was read, and is not whole"));
  return header.state;
}

/// Reads the inputs of a task and writes its rows; the same in the victim and in the hands.
RowCounts SweptLine::work(int stage, std::uint64_t task) {
  const StageShape& shape = shape_of(stage);
  const std::uint64_t size = shape.lanes[0].task;
  RowCounts counts;
  for (std::uint64_t sample = task * size; sample < (task + 1) * size; ++sample) {
    RowState state =
        shape.lanes[0].inputs.empty() && is_swept_hole(sample) ? RowState::hole : RowState::full;
    for (int input : shape.lanes[0].inputs) {
      const RowState above = check_input(input, sample);
      if (above != RowState::full) state = above;
      if (is_merge(input)) {
        crew_.seen.push_back(pools_[static_cast<std::size_t>(input)].headers(sample)->id);
      }
    }
    if (state != RowState::full) ++(state == RowState::pad ? counts.pads : counts.holes);
    for (std::uint64_t i = 0; shape.rows > 0 && i < shape.fan_out; ++i) {
      const std::uint64_t row = sample * shape.fan_out + i;
      write_row(stage, {row, row, support::expected_value(shape_, stage, row), 0, state, {}});
    }
  }
  return counts;
}

// --- its life ----------------------------------------------------------------------------------

int SweptLine::live(int tasks, void (*mark)()) {
  Control<SystemPolicy> control =
      attach_control<SystemPolicy>(memory_.data(), control_bytes<H>(shape_), shape_).value();
  return is_merge(victim_stage_) ? live_as_merge(control, mark)
                                 : live_in_stage(control, tasks, mark);
}

template <class P>
int SweptLine::live_in_stage(Control<P>& control, int tasks, void (*mark)()) {
  Channel<P> channel(control, victim_stage_, 0, 0);
  mark();
  for (int i = 0; i < tasks; ++i) {
    enter(Section::claim);
    Attempt<P> claim = channel.try_claim();
    if (claim.look != Look::claimed) {
      enter(Section::wait);
      claim = claim_or_wait<P>(control, victim(), 0, [&] { return channel.try_claim(); });
    }
    if (claim.look == Look::ended) break;
    enter(Section::work);
    const RowCounts counts = work(victim_stage_, claim.task);
    enter(Section::finish);
    channel.finish(claim.task, counts);
  }
  mark();
  return crew_.problem.empty() ? 0 : 1;
}

template <class P>
int SweptLine::live_as_merge(Control<P>& control, void (*mark)()) {
  Merge merge{this};
  std::vector<std::uint64_t> multiples(static_cast<std::size_t>(spec_.merged) + 1, 1);
  multiples[0] = shape_.stages.back().lanes[0].task;
  FreeRun<P, Merge> run(control, victim_stage_, multiples, 0, merge);
  mark();
  enter(Section::claim);
  if (!run.run().ok()) say("the merge failed");
  mark();
  return crew_.problem.empty() ? 0 : 1;
}

Result<FreeInput> SweptLine::Merge::look(int port, std::uint64_t number) {
  line->enter(Section::work);
  sample = number;
  FreeInput input;
  if (line->check_input(port, number) == RowState::hole) {
    ++input.not_full.holes;
  } else {
    input.outputs = outputs_of(number);
  }
  line->enter(Section::journal);
  return input;
}

void SweptLine::Merge::write(int port, std::uint64_t i, std::uint64_t number, std::uint64_t epoch) {
  line->enter(Section::work);
  line->write_row(line->victim_stage_, {number,
                                        number,
                                        output_value(port, sample, i),
                                        static_cast<std::uint32_t>(epoch),
                                        RowState::full,
                                        {}});
  line->enter(Section::finish);
}

void SweptLine::Merge::pad(std::uint64_t number, std::uint64_t epoch) {
  line->enter(Section::work);
  line->write_row(line->victim_stage_,
                  {number, number, 0, static_cast<std::uint32_t>(epoch), RowState::pad, {}});
  line->enter(Section::finish);
}

void SweptLine::live_as_merge_in_hands() {
  live_as_merge(control_, [] {});
}

}  // namespace brigade::stress
