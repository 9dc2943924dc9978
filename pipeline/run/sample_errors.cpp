#include "pipeline/run/sample_errors.h"

#include <algorithm>

#include "base/text.h"
#include "pipeline/run/cache_rows.h"
#include "pipeline/run/sampler.h"
#include "transports/epochs.h"

namespace brigade {
namespace {

// Of a stream: a share of fewer samples would be a matter of luck.
constexpr std::uint64_t kStreamSamplesMin = 1000;

}  // namespace

const PlanStage& id_source(const Plan& plan, const PlanStage& stage, int lane) {
  const PlanStage* at = &stage;
  const PlanLane* reads = &stage.lanes[static_cast<std::size_t>(lane)];
  while (!reads->inputs.empty()) {
    at = &plan.stages[static_cast<std::size_t>(reads->inputs.front().stage)];
    reads = &at->lanes.front();
  }
  return *at;
}

std::uint64_t source_id(const Plan& plan, const Control<SystemPolicy>& control, int stage, int lane,
                        std::uint64_t number) {
  const PlanStage& planned = plan.stages[static_cast<std::size_t>(stage)];
  const PlanStage& source = id_source(plan, planned, lane);
  const auto domain =
      static_cast<std::size_t>(planned.lanes[static_cast<std::size_t>(lane)].domain);
  const std::uint64_t samples = control.domains[domain]->epoch_samples.value.load();
  const std::uint64_t period = control.domains[domain]->epoch_period.value.load();
  if (!source.indexed || samples == kNever || period == 0) return number;
  const std::uint64_t fan_out = plan.domains[domain].fan_out;
  Sampler sampler = source_sampler(plan, control, source);
  const Sampler::Place place = sampler.place(number / fan_out);
  sampler.enter(place.epoch);
  if (place.index * fan_out >= samples) return number;
  const std::uint64_t id = sampler.id(place.index);
  return (source.is_cache() ? cached_id(plan, id) : id) * fan_out + number % fan_out;
}

SampleErrors::SampleErrors(const ReplicaContext& context, const Producer* producer)
    : context_(context), producer_(producer) {}

std::string SampleErrors::source_name(int lane, const SampleInfo& sample) const {
  if (producer_ != nullptr) return producer_->describe(sample.id);
  if (context_.source_names == nullptr) return "";
  const Plan& plan = *context_.plan;
  const PlanStage* source = &id_source(plan, *context_.stage, lane);
  std::uint64_t id = sample.id / context_.fan_out_above(lane);
  // The ids of what a cache gives are those of what it keeps; of several ranks each has its own.
  while (source->is_cache() && plan.shard.world == 1) {
    id /= plan.domains[static_cast<std::size_t>(source->lanes[1].domain)].fan_out;
    source = &id_source(plan, *source, 1);
  }
  return source->is_cache() ? "" : context_.source_names->name(*source, id);
}

std::string SampleErrors::describe(int lane, std::span<const SampleInfo> samples) const {
  const SampleInfo& first = samples.front();
  if (samples.size() > 1) {
    return concat("samples ", first.number, " to ", samples.back().number, " (epoch ", first.epoch,
                  ")");
  }
  std::string text = concat("sample ", first.number, " (id ", first.id, " of epoch ", first.epoch);
  if (const std::string name = source_name(lane, first); !name.empty())
    text += concat(": ", quote(name));
  return text + ")";
}

Result<void> SampleErrors::failed(int lane, std::span<const SampleInfo> samples,
                                  const Error& cause) {
  if (!context_.stage->on_error.skip)
    return Error{concat(context_.name(), ", ", describe(lane, samples), ": ", cause.message)};
  const bool noted = note_down(lane, samples);
  read_earlier();
  read_list(lane, samples);
  count_up(context_.counters().skipped, samples.size());
  if (!noted || counted(lane, samples.front().epoch) > allowed(lane))
    return too_many(lane, samples, cause);
  if (context_.reporter != nullptr)
    context_.reporter->say(concat("skipped ", describe(lane, samples), ": ", cause.message));
  return {};
}

bool SampleErrors::note_down(int lane, std::span<const SampleInfo> samples) {
  return std::all_of(samples.begin(), samples.end(), [&](const SampleInfo& sample) {
    return context_.words().skips.append(lane_number(lane, sample.number));
  });
}

/// `now`: those that have just been noted down, whose ids are known.
void SampleErrors::read_list(int now_lane, std::span<const SampleInfo> now) {
  const auto& list = context_.words().skips;
  for (; entries_read_ < list.capacity(); ++entries_read_) {
    const std::uint64_t entry = list.at(entries_read_);
    if (entry == kNever) return;  // free
    const int lane = lane_of(entry);
    const auto own = std::find_if(now.begin(), now.end(), [&](const SampleInfo& sample) {
      return lane_number(now_lane, sample.number) == entry;
    });
    const std::uint64_t id = own != now.end() ? own->id : source_id(lane, number_of(entry));
    failures_.samples.insert(lane_number(lane, id));
    const int domain = context_.stage->lanes[static_cast<std::size_t>(lane)].domain;
    const DomainEpochs<SystemPolicy> epochs(*context_.control, domain);
    ++failures_.by_epoch[lane_number(lane, epochs.passed(number_of(entry)))];
  }
}

/// Those of an earlier run, before this one begins.
void SampleErrors::read_earlier() {
  if (earlier_are_read_) return;
  earlier_are_read_ = true;
  for (const PlanPlace& place : context_.stage->skipped) {
    const int domain = context_.stage->lanes[static_cast<std::size_t>(place.lane)].domain;
    if (!DomainEpochs<SystemPolicy>(*context_.control, domain).have_one_length()) {
      ++failures_.without_id;
      continue;
    }
    const std::uint64_t period = context_.domain_of(place.lane).epoch_period.value.load();
    const std::uint64_t id = source_id(place.lane, place.epoch * period + place.index);
    failures_.samples.insert(lane_number(place.lane, id));
    ++failures_.by_epoch[lane_number(place.lane, place.epoch)];
  }
}

std::uint64_t SampleErrors::epoch_samples(int lane) const {
  const std::uint64_t samples = context_.domain_of(lane).epoch_samples.value.load();
  if (samples != kNever) return samples;
  const auto& words = context_.words().lanes[static_cast<std::size_t>(lane)];
  return std::max(words.mark->low.value.load(std::memory_order_acquire), kStreamSamplesMin);
}

std::uint64_t SampleErrors::allowed(int lane) const {
  const OnError& policy = context_.stage->on_error;
  if (policy.percent_max <= 0) return policy.count_max;
  return static_cast<std::uint64_t>(policy.percent_max / 100 *
                                    static_cast<double>(epoch_samples(lane)));
}

std::uint64_t SampleErrors::counted(int lane, std::uint32_t epoch) const {
  if (context_.stage->on_error.percent_max <= 0)
    return failures_.samples.size() + failures_.without_id;
  const auto found = failures_.by_epoch.find(lane_number(lane, epoch));
  return found != failures_.by_epoch.end() ? found->second : 0;
}

Error SampleErrors::too_many(int lane, std::span<const SampleInfo> samples,
                             const Error& cause) const {
  const OnError& policy = context_.stage->on_error;
  const std::string limit =
      policy.percent_max > 0
          ? concat(policy.percent_max, "% of an epoch, ", allowed(lane), " samples")
          : concat(policy.count_max, policy.count_max == 1 ? " sample" : " different samples");
  return Error{concat(context_.name(), ": more samples failed than on_error: skip allows (", limit,
                      "); the last was ", describe(lane, samples), ": ", cause.message)};
}

}  // namespace brigade
