#include <algorithm>
#include <cstring>

#include <brigade/text.h>
#include "tests/stress/swept_line.h"

namespace brigade::stress {
namespace {

constexpr int kMovesMax = 20'000;  // of everybody, in a run to the end

struct Hangs {};  // thrown out of a wait that nobody ends

}  // namespace

bool SweptLine::is_committed(StageNumber stage, QueueNumber number, std::uint64_t task) const {
  const QueueShape& shape = shape_of(stage).queues[number];
  const QueueWords<H>& queue = control_.stages[stage].queues[number];
  if (queue.watermark->level.value.load() >= (task + 1) * shape.task) return true;
  if (shape.in_order) return false;
  const auto seen = queue.table.read(queue.table.word(task).load(), task);
  return seen.newer || seen.state == TaskState::done;
}

/// A task that is committed in memory and was not finished by a hand was finished by the dead.
void SweptLine::note_commits_of_victim() {
  const auto& queues = shape_of(victim_stage_).queues;
  for (const QueueNumber queue : queues.numbers()) {
    auto& finished = worker_pool_.finished[victim_stage_][queue];
    const std::uint64_t tasks = end_of(victim_stage_, queue) / queues[queue].task;
    for (std::uint64_t task = 0; task < tasks; ++task) {
      if (is_committed(victim_stage_, queue, task)) {
        finished[task] = std::max(finished[task], 1);
      } else if (finished[task] != 0) {
        say(concat("task ", task, " was done and is not any more"));
      }
    }
  }
}

std::string SweptLine::outcome_of_death(const Aftermath& aftermath) {
  hand_out_wakes();
  const std::vector<std::byte> bytes(memory_.data(), memory_.data() + bytes_);
  const WorkerPool worker_pool = worker_pool_;
  const int section = *section_;
  if (!has_own_loop(victim_stage_)) note_commits_of_victim();
  Hand& hand = worker_pool_.hands[victim()];
  while (aftermath.late && move_all()) {
  }
  if (aftermath.restart == Restart::before_repair) {
    hand = new_hand(victim_stage_, 0);
    move(hand);
  }
  repair(control_, victim_stage_, 0, {}, aftermath.rules);
  check_bits_of_victim();
  hand_out_wakes();
  if (aftermath.restart == Restart::after_repair) hand = new_hand(victim_stage_, 0);
  if (aftermath.restart == Restart::never && is_stream(victim_stage_)) give_up_stream();
  run_to_the_end();
  if (worker_pool_.problem.empty()) check_the_end();
  std::string problem = std::move(worker_pool_.problem);
  std::memcpy(memory_.data(), bytes.data(), bytes_);
  worker_pool_ = worker_pool;
  *section_ = section;
  HandsPolicy::rung.clear();
  return problem;
}

void SweptLine::run_to_the_end() {
  if (has_own_loop(victim_stage_) && !worker_pool_.gave_up) {
    HandsPolicy::asleep = [this](std::atomic<std::uint32_t>&) {
      Hand& own = worker_pool_.hands[victim()];
      hand_out_wakes();
      own.rung = false;
      while (!own.rung) {
        if (!move_all()) throw Hangs();
      }
    };
    try {
      live_in_hands();
    } catch (const Hangs&) {
      return say("hangs");
    }
    hand_out_wakes();
  }
  for (int i = 0; i < kMovesMax && worker_pool_.problem.empty(); ++i) {
    const bool left = std::all_of(worker_pool_.hands.begin(), worker_pool_.hands.end(),
                                  [](const Hand& hand) { return hand.state == Hand::State::left; });
    if (left) return;
    if (!move_all()) return say("hangs");
  }
  say("does not end");
}

// --- what must hold ------------------------------------------------------------------------------

std::uint64_t SweptLine::end_of(StageNumber stage, QueueNumber queue) const {
  const IndexSpaceNumber index_space = shape_of(stage).queues[queue].index_space;
  return control_.index_spaces[index_space]->end.value.load();
}

void SweptLine::check_bits_of_victim() {
  const int number = victim();
  for (const StageWords<H>& stage : control_.stages)
    for (const QueueWords<H>& queue : stage.queues)
      if ((queue.watermark->waiters.bits[number / 64].load() >> (number % 64) & 1) != 0)
        say("a bit of the dead was left by its repair");
}

void SweptLine::check_the_end() {
  for (const StageNumber s : shape_.stages.numbers()) {
    for (const QueueWords<H>& queue : control_.stages[s].queues) {
      for (const auto& bits : queue.watermark->waiters.bits) {
        if (bits.load() != 0)
          say(concat("waiter bits were left on a watermark of stage ", s.value()));
      }
    }
    for (const QueueNumber queue : shape_of(s).queues.numbers()) {
      if (queue_level(control_, s, queue) != end_of(s, queue))
        say(concat("stage ", s.value(), " ended early"));
      if (!has_own_loop(s)) check_queue(s, queue);
    }
  }
  if (spec_.merged > 0) check_merge();
  if (!spec_.streamed.empty()) check_stream();
}

void SweptLine::check_queue(StageNumber stage, QueueNumber queue) {
  const std::uint64_t end = end_of(stage, queue);
  for (std::uint64_t task = 0; task < end / shape_of(stage).queues[queue].task; ++task) {
    const int finished = worker_pool_.finished[stage][queue][task];
    if (finished == 1) continue;
    say(concat("task ", task, " of stage ", stage.value(), " was finished ", finished, " times"));
  }
  for (const StageNumber input : shape_of(stage).queues[queue].inputs) {
    if (has_own_loop(input)) continue;
    std::uint64_t full = 0;
    for (std::uint64_t sample = 0; sample < end; ++sample) {
      full += must_be_empty(input, sample) ? 0 : 1;
    }
    check_audit(input, stage, queue, full);
  }
}

void SweptLine::check_audit(StageNumber writer, StageNumber reader, QueueNumber queue,
                            std::uint64_t full) {
  const EdgeAudit edge = audit_edge(control_, writer, reader, queue);
  if (edge.produced == full && edge.delivered == full && edge.leaked == 0) return;
  say(concat("the audit from stage ", writer.value(), " to ", reader.value(), ": full ", full,
             ", produced ", edge.produced, ", delivered ", edge.delivered, ", leaked ",
             edge.leaked));
}

/// The outputs of every input, once, together and in the order of its source; the rest is padding.
void SweptLine::check_merge() {
  std::vector<std::vector<std::uint64_t>> seen(static_cast<std::size_t>(spec_.merged));
  std::uint64_t full = 0;
  for (const std::uint64_t value : worker_pool_.seen) {
    if (value == 0) continue;
    seen[value / 1000 - 1].push_back(value);
    ++full;
  }
  const StageNumber merge(spec_.merged);
  for (int port = 0; port < spec_.merged; ++port) {
    std::vector<std::uint64_t> expected;
    std::uint64_t samples = 0;
    for (std::uint64_t sample = 0; sample < spec_.samples; ++sample) {
      samples += is_swept_empty(sample) ? 0 : 1;
      for (std::uint64_t i = 0; i < outputs_of(sample); ++i) {
        expected.push_back(output_value(port, sample, i));
      }
    }
    if (seen[port] != expected) {
      say(concat("outputs of port ", port, " were lost, repeated or mixed up"));
    }
    check_audit(StageNumber(port), merge, input_queue(port), samples);
  }
  check_audit(merge, StageNumber(spec_.merged + 1), 0, full);
}

}  // namespace brigade::stress
