#include "tests/stress/instruction_sweep.h"

#include <memory>
#include <vector>

#include <brigade/text.h>

namespace brigade::stress {
namespace {

using State = SteppedProcess::State;

constexpr std::uint64_t kInstructionsMax = 2'000'000;  // of one stretch: it spins, else

/// A line and its victim, from the same beginning each time.
class Stretch {
 public:
  explicit Stretch(const Sweep& sweep) : line_(*sweep.spec, sweep.victim_stage), pace_(sweep.pace) {
    line_.play(sweep.position, static_cast<std::uint64_t>(sweep.position));
    victim_ = std::make_unique<SteppedProcess>(
        [&] { return line_.live(sweep.tasks, SteppedProcess::mark); });
  }

  SweptLine& line() { return line_; }
  SteppedProcess& victim() { return *victim_; }

  /// Empty, or why the victim cannot go on.
  std::string step() {
    const bool slept = victim_->state() == State::asleep;
    if (slept && !line_.wake_victim()) return "nobody wakes the victim";
    const State state = victim_->step();
    if (state == State::broken) return "the victim crashed";
    if (victim_->woken() != nullptr) line_.note_wake(victim_->woken());
    if (pace_ > 0 && ++steps_ % pace_ == 0 && state == State::stopped) line_.let_others_move();
    return "";
  }

 private:
  SweptLine line_;
  const int pace_;
  int steps_ = 0;
  std::unique_ptr<SteppedProcess> victim_;
};

void kill_for_real(const Sweep& sweep, std::uint64_t after,
                   const std::vector<std::uint64_t>& fingerprints, SweepResult& result) {
  Stretch stretch(sweep);
  std::string problem;
  for (std::uint64_t n = 0; n < after && problem.empty(); ++n) problem = stretch.step();
  stretch.victim().kill();
  ++result.real_kills;
  if (problem.empty() && stretch.line().fingerprint() != fingerprints[after]) {
    problem = "a real kill left other bytes than a step";
  }
  if (problem.empty()) problem = stretch.line().outcome_of_death(sweep.aftermath);
  if (problem.empty()) return;
  if (result.failure.empty()) result.failure = concat("killed after ", after, ": ", problem);
  ++result.failures;
}

}  // namespace

void SweepResult::add(const SweepResult& other) {
  if (failure.empty()) failure = other.failure;
  failures += other.failures;
  deaths += other.deaths;
  real_kills += other.real_kills;
  for (std::size_t i = 0; i < instructions.size(); ++i) instructions[i] += other.instructions[i];
}

std::string SweepResult::figures() const {
  constexpr const char* kNames[] = {"claim", "wait", "work", "finish", "journal", "end"};
  std::string text = concat(deaths, " deaths, ", real_kills, " real kills; instructions:");
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    if (instructions[i] != 0) text += concat(" ", kNames[i], " ", instructions[i]);
  }
  return text;
}

SweepResult run_sweep(const Sweep& sweep) {
  SweepResult result;
  Stretch stretch(sweep);
  SweptLine& line = stretch.line();
  std::vector<std::uint64_t> fingerprints;
  const auto die = [&](const Aftermath& aftermath) {
    ++result.deaths;
    const std::string problem = line.outcome_of_death(aftermath);
    if (problem.empty()) return;
    if (result.failure.empty()) {
      result.failure = concat("after instruction ", fingerprints.size() - 1, " (", sweep.spec->name,
                              ", stage ", sweep.victim_stage.value(), "): ", problem);
    }
    ++result.failures;
  };
  for (std::string problem; fingerprints.size() < kInstructionsMax;) {
    fingerprints.push_back(line.fingerprint());
    die(sweep.aftermath);
    if (sweep.also_late) die({sweep.aftermath.rules, true, sweep.aftermath.restart});
    if (sweep.also_without_restart && line.replicas_of_victim() > 1) {
      die({sweep.aftermath.rules, false, Restart::never});
      die({sweep.aftermath.rules, true, Restart::never});
    }
    if (result.failures > 0) return result;
    problem = stretch.step();
    if (stretch.victim().state() == State::ended) break;
    ++result.instructions[static_cast<std::size_t>(line.section())];
    if (problem.empty()) continue;
    result.failure = problem;
    ++result.failures;
    return result;
  }
  if (const int code = stretch.victim().leave(); code != 0) {
    result.failure = concat("the victim saw a wrong slot, code ", code);
    ++result.failures;
  }
  for (int i = 0; i < sweep.real_kills; ++i) {
    const auto share = static_cast<std::uint64_t>(2 * i + 1);
    const std::uint64_t all = fingerprints.size() - 1;
    kill_for_real(sweep, all * share / (2 * static_cast<std::uint64_t>(sweep.real_kills)),
                  fingerprints, result);
  }
  return result;
}

}  // namespace brigade::stress
