#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "tests/stress/swept_line.h"

namespace brigade::stress {
namespace {

constexpr int kMovesMax = 20'000;  // of everybody, in a run to the end

struct Hangs {};  // thrown out of a wait that nobody ends

}  // namespace

bool SweptLine::is_committed(int stage, std::uint64_t task) const {
  const LaneShape& shape = shape_of(stage).lanes[0];
  const LaneWords<H>& lane = control_.stages[static_cast<std::size_t>(stage)].lanes[0];
  if (lane.mark->low.value.load() >= (task + 1) * shape.task) return true;
  if (shape.in_order) return false;
  const auto seen = lane.table.read(lane.table.word(task).load(), task);
  return seen.newer || seen.state == TaskState::done;
}

/// A task that is committed in memory and was not finished by a hand was finished by the dead.
void SweptLine::note_commits_of_victim() {
  auto& finished = crew_.finished[static_cast<std::size_t>(victim_stage_)];
  const std::uint64_t tasks = end_of(victim_stage_) / shape_of(victim_stage_).lanes[0].task;
  for (std::uint64_t task = 0; task < tasks; ++task) {
    if (is_committed(victim_stage_, task)) {
      finished[task] = std::max(finished[task], 1);
    } else if (finished[task] != 0) {
      say(concat("task ", task, " was done and is not any more"));
    }
  }
}

std::string SweptLine::outcome_of_death(const Aftermath& aftermath) {
  hand_out_wakes();
  const std::vector<std::byte> bytes(memory_.data(), memory_.data() + bytes_);
  const Crew crew = crew_;
  const int section = *section_;
  if (!is_merge(victim_stage_)) note_commits_of_victim();
  Hand& hand = crew_.hands[static_cast<std::size_t>(victim())];
  while (aftermath.late && move_all()) {
  }
  if (aftermath.restart == Restart::before_repair) {
    hand = new_hand(victim_stage_, 0);
    move(hand);
  }
  repair(control_, victim_stage_, 0, {}, aftermath.rules);
  hand_out_wakes();
  if (aftermath.restart == Restart::after_repair) hand = new_hand(victim_stage_, 0);
  run_to_the_end();
  if (crew_.problem.empty()) check_the_end();
  std::string problem = std::move(crew_.problem);
  std::memcpy(memory_.data(), bytes.data(), bytes_);
  crew_ = crew;
  *section_ = section;
  HandsPolicy::rung.clear();
  return problem;
}

void SweptLine::run_to_the_end() {
  if (is_merge(victim_stage_)) {
    HandsPolicy::asleep = [this](std::atomic<std::uint32_t>&) {
      Hand& merge = crew_.hands[static_cast<std::size_t>(victim())];
      hand_out_wakes();
      merge.rung = false;
      while (!merge.rung) {
        if (!move_all()) throw Hangs();
      }
    };
    try {
      live_as_merge_in_hands();
    } catch (const Hangs&) {
      return say("hangs");
    }
    hand_out_wakes();
  }
  for (int i = 0; i < kMovesMax && crew_.problem.empty(); ++i) {
    const bool left = std::all_of(crew_.hands.begin(), crew_.hands.end(),
                                  [](const Hand& hand) { return hand.state == Hand::State::left; });
    if (left) return;
    if (!move_all()) return say("hangs");
  }
  say("does not end");
}

// --- what must hold ------------------------------------------------------------------------------

std::uint64_t SweptLine::end_of(int stage) const {
  const auto domain = static_cast<std::size_t>(shape_of(stage).lanes[0].domain);
  return control_.domains[domain]->end.value.load();
}

void SweptLine::check_the_end() {
  for (int s = 0; s < static_cast<int>(shape_.stages.size()); ++s) {
    for (const LaneWords<H>& lane : control_.stages[static_cast<std::size_t>(s)].lanes) {
      for (const auto& bits : lane.mark->waiters.bits) {
        if (bits.load() != 0) say(concat("waiter bits were left on a mark of stage ", s));
      }
    }
    if (lane_low(control_, s, 0) != end_of(s)) say(concat("stage ", s, " ended early"));
    if (!is_merge(s)) check_stage(s);
  }
  if (spec_.merged > 0) check_merge();
}

void SweptLine::check_stage(int stage) {
  const std::uint64_t end = end_of(stage);
  for (std::uint64_t task = 0; task < end / shape_of(stage).lanes[0].task; ++task) {
    const int finished = crew_.finished[static_cast<std::size_t>(stage)][task];
    if (finished == 1) continue;
    say(concat("task ", task, " of stage ", stage, " was finished ", finished, " times"));
  }
  for (int input : shape_of(stage).lanes[0].inputs) {
    if (is_merge(input)) continue;
    std::uint64_t full = 0;
    for (std::uint64_t sample = 0; sample < end; ++sample) {
      full += must_be_hole(stage, sample * shape_of(stage).fan_out) ? 0 : 1;
    }
    check_books(input, stage, 0, full);
  }
}

void SweptLine::check_books(int writer, int reader, int lane, std::uint64_t full) {
  const EdgeAudit books = audit_edge(control_, writer, reader, lane);
  if (books.produced == full && books.delivered == full && books.leaked == 0) return;
  say(concat("the books from stage ", writer, " to ", reader, ": full ", full, ", produced ",
             books.produced, ", delivered ", books.delivered, ", leaked ", books.leaked));
}

/// The outputs of every input, once, together and in the order of its source; the rest is padding.
void SweptLine::check_merge() {
  std::vector<std::vector<std::uint64_t>> seen(static_cast<std::size_t>(spec_.merged));
  std::uint64_t full = 0;
  for (const std::uint64_t value : crew_.seen) {
    if (value == 0) continue;
    seen[value / 1000 - 1].push_back(value);
    ++full;
  }
  for (int port = 0; port < spec_.merged; ++port) {
    std::vector<std::uint64_t> expected;
    std::uint64_t samples = 0;
    for (std::uint64_t sample = 0; sample < spec_.samples; ++sample) {
      samples += is_swept_hole(sample) ? 0 : 1;
      for (std::uint64_t i = 0; i < outputs_of(sample); ++i) {
        expected.push_back(output_value(port, sample, i));
      }
    }
    if (seen[static_cast<std::size_t>(port)] != expected) {
      say(concat("outputs of port ", port, " were lost, repeated or mixed up"));
    }
    check_books(port, spec_.merged, 1 + port, samples);
  }
  check_books(spec_.merged, spec_.merged + 1, 0, full);
}

}  // namespace brigade::stress
