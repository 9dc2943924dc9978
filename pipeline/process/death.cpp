#include "pipeline/process/death.h"

#include <csignal>

#include "base/text.h"
#include "pipeline/run/sampler.h"

namespace brigade {
namespace {

constexpr std::size_t kLinesShown = 3;
constexpr std::size_t kLineBytesShown = 200;

std::string sample_text(const SampleInHand& sample) {
  std::string text = concat(" with sample ", sample.number, " in hand");
  if (sample.placed) {
    text += concat(" (epoch ", sample.epoch, ", index ", sample.index, ", id ", sample.id, ")");
  }
  return text;
}

std::string ending_hint(const Ending& ending) {
  if (ending.kind == Ending::Kind::killed && ending.code == SIGKILL) {
    return " (by hand, or by the kernel for lack of memory)";
  }
  if (ending.kind == Ending::Kind::killed && ending.code == SIGBUS) {
    return " (lack of memory, or a file that shrank under its mapping)";
  }
  return "";
}

std::string last_output(const std::deque<std::string>& lines) {
  std::vector<std::string> shown;
  for (auto line = lines.rbegin(); line != lines.rend() && shown.size() < kLinesShown; ++line) {
    if (trim(*line).empty()) continue;
    shown.insert(shown.begin(), quote(std::string_view(*line).substr(0, kLineBytesShown)));
  }
  return shown.empty() ? "" : concat("; its last output: ", join(shown, " / "));
}

}  // namespace

std::optional<SampleInHand> sample_in_hand(const Plan& plan, const Control<SystemPolicy>& control,
                                           int stage, int replica) {
  SampleInHand sample;
  sample.number = control.replicas[replica].at.value.load(std::memory_order_relaxed);
  if (sample.number == kNever) return std::nullopt;
  const PlanStage& planned = plan.stages[static_cast<std::size_t>(stage)];
  if (planned.lanes.size() != 1) return sample;  // its number does not say which input
  const auto domain = static_cast<std::size_t>(planned.lanes.front().domain);
  const std::uint64_t samples = control.domains[domain]->epoch_samples.value.load();
  const std::uint64_t period = control.domains[domain]->epoch_period.value.load();
  if (samples == kNever || period == 0 || plan.domains[domain].sources.empty()) return sample;
  const auto source = static_cast<std::size_t>(plan.domains[domain].sources.front());
  sample.epoch = sample.number / period;
  sample.index = sample.number % period;
  if (sample.index >= samples) return sample;
  Sampler sampler(samples, period, plan.stages[source].shuffle, plan.stages[source].seed);
  sampler.enter(static_cast<std::uint32_t>(sample.epoch));
  sample.id = sampler.id(sample.index);
  sample.placed = true;
  return sample;
}

std::string death_text(const Death& death) {
  std::string text = concat("stage \"", death.stage, "\" replica ", death.replica);
  if (death.pid != 0) text += concat(" (pid ", death.pid, ")");
  if (!death.message.empty()) return concat(text, " failed: ", death.message);
  text += concat(" ", ending_text(death.ending), ending_hint(death.ending));
  if (death.sample) text += sample_text(*death.sample);
  return text + last_output(death.last_lines);
}

}  // namespace brigade
