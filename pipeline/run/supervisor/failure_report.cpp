#include "pipeline/run/supervisor/failure_report.h"

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

std::string ending_hint(const Ending& ending, bool lack_of_memory) {
  if (lack_of_memory) return " (by the kernel: out of memory)";
  if (ending.kind == Ending::Kind::killed && ending.code == SIGKILL) {
    return " (manually, or by the kernel: out of memory)";
  }
  if (ending.kind == Ending::Kind::killed && ending.code == SIGBUS) {
    return " (out of memory, or a mapped file was truncated)";
  }
  return "";
}

std::string last_output(const std::deque<std::string>& lines) {
  std::vector<std::string> shown;
  for (auto line = lines.rbegin(); line != lines.rend() && shown.size() < kLinesShown; ++line) {
    if (trim(*line).empty()) continue;
    shown.insert(shown.begin(), quote(std::string_view(*line).substr(0, kLineBytesShown)));
  }
  return join(shown, " / ");
}

}  // namespace

std::optional<EventSample> in_flight_sample(const Plan& plan, const StartBarrier& barrier,
                                            const Control<SystemPolicy>& control, StageNumber stage,
                                            std::uint64_t at) {
  if (at == kNever) return std::nullopt;
  EventSample sample;
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

Event event_of(const FailureReport& death) {
  Event event;
  event.kind = EventKind::died;
  event.level = EventLevel::warning;
  event.stage = death.stage;
  event.replica = death.replica;
  event.pid = death.pid;
  event.sample = death.sample;
  if (!death.message.empty()) {
    event.kind = EventKind::failed;
    event.level = EventLevel::error;
    event.message = death.message;
    event.next = EventNext::fail;
    return event;
  }
  if (death.ending.kind == Ending::Kind::killed) event.signal = death.ending.code;
  if (death.ending.kind == Ending::Kind::exited) event.exit_code = death.ending.code;
  event.message = concat(ending_text(death.ending), ending_hint(death.ending, death.lack_of_memory),
                         death.ending.clean() ? " before its work was done" : "");
  if (death.ending.clean() && death.is_exec)
    event.help =
        "an `exec:` program must call brigade_worker_next() until it returns BRIGADE_END, and then "
        "brigade_worker_close()";
  event.output = last_output(death.last_lines);
  return event;
}

}  // namespace brigade
