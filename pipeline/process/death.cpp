#include "pipeline/process/death.h"

#include <csignal>

#include "base/text.h"
#include "pipeline/run/replica_context.h"
#include "pipeline/run/sample_errors.h"
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

std::string ending_hint(const Ending& ending, bool lack_of_memory) {
  if (lack_of_memory) return " (by the kernel, for lack of memory)";
  if (ending.kind == Ending::Kind::killed && ending.code == SIGKILL) {
    return " (by hand, or by the kernel for lack of memory)";
  }
  if (ending.kind == Ending::Kind::killed && ending.code == SIGBUS) {
    return " (lack of memory, or a file that shrank under its mapping)";
  }
  return "";
}

// A replica's own messages begin with its name, which stands in front already.
std::string_view without_name(std::string_view message, const Death& death) {
  const std::string name = concat("stage \"", death.stage, "\" (replica ", death.replica, ")");
  std::string_view rest = strip_prefix(message, name).value_or(message);
  for (std::string_view separator : {", ", ": "})
    rest = strip_prefix(rest, separator).value_or(rest);
  return rest;
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

std::optional<SampleInHand> sample_in_hand(const Plan& plan, const StartBarrier& barrier, int stage,
                                           std::uint64_t at) {
  if (at == kNever) return std::nullopt;
  SampleInHand sample;
  sample.number = number_of(at);
  const PlanStage& planned = plan.stages[static_cast<std::size_t>(stage)];
  const auto lane = static_cast<std::size_t>(lane_of(at));
  if (lane >= planned.lanes.size()) return sample;
  const int domain = planned.lanes[lane].domain;
  const std::optional<DomainStart> start = barrier.start_so_far(domain);
  if (!start || start->period == 0) return sample;
  sample.epoch = sample.number / start->period;
  sample.index = sample.number % start->period;
  // Of several ranks each knows its own part only: the size of the whole, and with it the id, is
  // known to the source's process.
  if (sample.index >= start->samples || plan.shard.world > 1) return sample;
  const PlanStage& producer = id_source(plan, planned, static_cast<int>(lane));
  const std::uint64_t fan_out = plan.domains[static_cast<std::size_t>(domain)].fan_out;
  Sampler sampler(start->samples / fan_out, start->period / fan_out, producer.shuffle,
                  producer.seed);
  sampler.enter(static_cast<std::uint32_t>(sample.epoch));
  sample.id = sampler.id(sample.index / fan_out) * fan_out + sample.index % fan_out;
  sample.placed = true;
  return sample;
}

std::string death_text(const Death& death) {
  std::string text = concat("stage \"", death.stage, "\" replica ", death.replica);
  if (death.pid != 0) text += concat(" (pid ", death.pid, ")");
  if (!death.message.empty()) return concat(text, " failed: ", without_name(death.message, death));
  text += concat(" ", ending_text(death.ending), ending_hint(death.ending, death.lack_of_memory));
  if (death.ending.clean()) text += " before its work was done";
  if (death.sample) text += sample_text(*death.sample);
  return text + last_output(death.last_lines);
}

}  // namespace brigade
