#include "pipeline/supervisor/failure_report.h"

#include <csignal>
#include <utility>

#include <brigade/text.h>
#include "pipeline/plan/replica_table.h"
#include "pipeline/plan/sample_address.h"
#include "pipeline/records/sampler.h"
#include "pipeline/records/source_id.h"

namespace brigade {
namespace {

constexpr std::size_t kLinesShown = 3;
constexpr std::size_t kLineBytesShown = 200;

std::string sample_text(const InFlightSample& sample) {
  std::string text = concat(" with sample ", sample.number, " in flight");
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

std::string last_output(const std::deque<std::string>& lines) {
  std::vector<std::string> shown;
  for (auto line = lines.rbegin(); line != lines.rend() && shown.size() < kLinesShown; ++line) {
    if (trim(*line).empty()) continue;
    shown.insert(shown.begin(), quote(std::string_view(*line).substr(0, kLineBytesShown)));
  }
  return shown.empty() ? "" : concat("; its last output: ", join(shown, " / "));
}

}  // namespace

std::optional<InFlightSample> in_flight_sample(const Plan& plan, const StartBarrier& barrier,
                                               const Control<SystemPolicy>& control,
                                               StageNumber stage, std::uint64_t at) {
  if (at == kNever) return std::nullopt;
  InFlightSample sample;
  const SampleAddress address = SampleAddress::of(at);
  sample.number = address.number;
  const PlanStage& planned = plan.stages[stage];
  const QueueNumber queue = address.queue;
  if (!planned.queues.has(queue)) return sample;
  const IndexSpaceNumber index_space = planned.queues[queue].index_space;
  const std::optional<IndexSpaceStart> start = barrier.start_so_far(index_space);
  if (!start || start->period == 0) return sample;
  sample.epoch = sample.number / start->period;
  sample.index = sample.number % start->period;
  // Of several ranks each knows its own part only: the size of the whole, and with it the id, is
  // known to the source's process.
  if (sample.index >= start->samples || plan.shard.world > 1) return sample;
  const PlanStage& producer = id_source(plan, planned, queue);
  if (is_drawn(producer)) return sample;  // so do the weights
  const std::uint64_t fan_out = plan.index_spaces[index_space].fan_out;
  Subset subset;
  if (!producer.is_cache() && !is_front(producer)) {
    subset = Subset(producer, producer.seed, found_samples(plan, control, producer));
    if (subset.size() == 0) return sample;
  }
  Sampler sampler(start->samples / fan_out, start->period / fan_out, producer.shuffle,
                  producer.seed, {}, std::move(subset));
  sampler.enter(static_cast<std::uint32_t>(sample.epoch));
  sample.id = sampler.id(sample.index / fan_out) * fan_out + sample.index % fan_out;
  sample.placed = true;
  return sample;
}

std::string failure_text(const FailureReport& death) {
  std::string text = replica_name(death.stage, death.replica);
  if (death.pid != 0) text += concat(" (pid ", death.pid, ")");
  if (!death.message.empty()) return concat(text, " failed: ", death.message);
  text += concat(" ", ending_text(death.ending), ending_hint(death.ending, death.lack_of_memory));
  if (death.ending.clean()) text += " before its work was done";
  if (death.ending.clean() && death.is_exec)
    text +=
        " (a program of `exec:` calls brigade_worker_next() until it says BRIGADE_END, and then"
        " brigade_worker_close())";
  if (death.sample) text += sample_text(*death.sample);
  return text + last_output(death.last_lines);
}

}  // namespace brigade
