#include "pipeline/worker/tasks/error_policy.h"

#include <algorithm>

#include <brigade/text.h>
#include "pipeline/records/source_weights.h"
#include "transports/epochs.h"

namespace brigade {
namespace {

// Of a stream: a share of fewer samples would be a matter of luck.
constexpr std::uint64_t kStreamSamplesMin = 1000;

}  // namespace

ErrorPolicy::ErrorPolicy(const ReplicaContext& context, const Producer* producer)
    : context_(context), producer_(producer) {}

std::uint64_t ErrorPolicy::source_id(QueueNumber queue, std::uint64_t number) const {
  const PlanStage& source = id_source(*context_.plan, *context_.stage, queue);
  const Draws* draws = draws_of(producer_);
  if (draws == nullptr && context_.source_names != nullptr)
    draws = context_.source_names->draws(source,
                                         found_samples(*context_.plan, *context_.control, source));
  return brigade::source_id(*context_.plan, *context_.control, context_.stage_index, queue, number,
                            draws);
}

std::string ErrorPolicy::source_name(QueueNumber queue, const SampleInfo& sample) const {
  if (producer_ != nullptr) return producer_->describe(sample.id);
  if (context_.source_names == nullptr) return "";
  const Plan& plan = *context_.plan;
  const PlanStage* source = &id_source(plan, *context_.stage, queue);
  std::uint64_t id = sample.id / context_.fan_out_above(queue);
  const bool was_cached = source->is_cache();
  // The ids of what a cache gives are those of what it keeps; of several ranks each has its own.
  while (source->is_cache() && plan.shard.world == 1) {
    id /= plan.index_spaces[source->queues[1].index_space].fan_out;
    source = &id_source(plan, *source, 1);
  }
  if (source->is_cache()) return "";
  if (was_cached && !is_front(*source)) {  // until here a position in what is read of it
    const Subset subset(*source, source->seed, found_samples(plan, *context_.control, *source));
    if (id >= subset.size()) return "";
    id = subset(id);
  }
  return context_.source_names->name(*source, id);
}

std::string ErrorPolicy::describe(QueueNumber queue, std::span<const SampleInfo> samples) const {
  const SampleInfo& first = samples.front();
  if (samples.size() > 1) {
    return concat("samples ", first.number, " to ", samples.back().number, " (epoch ", first.epoch,
                  ")");
  }
  std::string text = concat("sample ", first.number, " (id ", first.id, " of epoch ", first.epoch);
  if (const std::string name = source_name(queue, first); !name.empty())
    text += concat(": ", quote(name));
  return text + ")";
}

Result<void> ErrorPolicy::failed(QueueNumber queue, std::span<const SampleInfo> samples,
                                 const Error& cause) {
  if (!context_.stage->on_error.skip || cause.refusal == Refusal::lost)
    return cause.within(describe(queue, samples));
  const bool noted = note_down(queue, samples);
  read_earlier();
  read_list(queue, samples);
  count_up(context_.counters().skipped, samples.size());
  if (!noted || counted(queue, samples.front().epoch) > allowed(queue))
    return too_many(queue, samples, cause);
  if (context_.reporter != nullptr)
    context_.reporter->log(concat("skipped ", describe(queue, samples), ": ", cause.message));
  return {};
}

bool ErrorPolicy::note_down(QueueNumber queue, std::span<const SampleInfo> samples) {
  return std::all_of(samples.begin(), samples.end(), [&](const SampleInfo& sample) {
    return context_.words().skips.append(SampleAddress{queue, sample.number}.word());
  });
}

/// `now`: those that have just been noted down, whose ids are known.
void ErrorPolicy::read_list(QueueNumber now_queue, std::span<const SampleInfo> now) {
  const auto& list = context_.words().skips;
  for (; entries_read_ < list.capacity(); ++entries_read_) {
    const std::uint64_t entry = list.at(entries_read_);
    if (entry == kNever) return;  // free
    const SampleAddress address = SampleAddress::of(entry);
    const auto own = std::find_if(now.begin(), now.end(), [&](const SampleInfo& sample) {
      return SampleAddress{now_queue, sample.number}.word() == entry;
    });
    const std::uint64_t id = own != now.end() ? own->id : source_id(address.queue, address.number);
    failures_.samples.insert({address.queue, id});
    const IndexSpaceNumber index_space = context_.stage->queues[address.queue].index_space;
    const IndexSpaceEpochs<SystemPolicy> epochs(*context_.control, index_space);
    ++failures_.by_epoch[{address.queue, epochs.passed(address.number)}];
  }
}

/// Those of an earlier run, before this one begins.
void ErrorPolicy::read_earlier() {
  if (earlier_are_read_) return;
  earlier_are_read_ = true;
  for (const SampleInQueue& sample : context_.resumed().skipped) {
    const IndexSpaceNumber index_space = context_.stage->queues[sample.queue].index_space;
    if (!IndexSpaceEpochs<SystemPolicy>(*context_.control, index_space).have_one_length()) {
      ++failures_.without_id;
      continue;
    }
    const std::uint64_t period = context_.index_space_of(sample.queue).epoch_period.value.load();
    const std::uint64_t id = source_id(sample.queue, sample.at.epoch * period + sample.at.index);
    failures_.samples.insert({sample.queue, id});
    ++failures_.by_epoch[{sample.queue, sample.at.epoch}];
  }
}

std::uint64_t ErrorPolicy::epoch_samples(QueueNumber queue) const {
  const std::uint64_t samples = context_.index_space_of(queue).epoch_samples.value.load();
  if (samples != kNever) return samples;
  const auto& words = context_.words().queues[queue];
  return std::max(words.watermark->level.value.load(std::memory_order_acquire), kStreamSamplesMin);
}

std::uint64_t ErrorPolicy::allowed(QueueNumber queue) const {
  const OnError& policy = context_.stage->on_error;
  if (policy.percent_max <= 0) return policy.count_max;
  return static_cast<std::uint64_t>(policy.percent_max / 100 *
                                    static_cast<double>(epoch_samples(queue)));
}

std::uint64_t ErrorPolicy::counted(QueueNumber queue, std::uint32_t epoch) const {
  if (context_.stage->on_error.percent_max <= 0)
    return failures_.samples.size() + failures_.without_id;
  const auto found = failures_.by_epoch.find({queue, epoch});
  return found != failures_.by_epoch.end() ? found->second : 0;
}

Error ErrorPolicy::too_many(QueueNumber queue, std::span<const SampleInfo> samples,
                            const Error& cause) const {
  const OnError& policy = context_.stage->on_error;
  const std::string limit =
      policy.percent_max > 0
          ? concat(policy.percent_max, "% of an epoch, ", allowed(queue), " samples")
          : concat(policy.count_max, policy.count_max == 1 ? " sample" : " different samples");
  return Error{concat("more samples failed than on_error: skip allows (", limit, "); the last was ",
                      describe(queue, samples), ": ", cause.message)};
}

}  // namespace brigade
