#include "pipeline/worker/tasks/quarantine.h"

#include <brigade/text.h>
#include "base/units.h"

namespace brigade {

bool Quarantine::by_id(QueueNumber queue) const {
  return !context_.stage->batched && id_source(*context_.plan, *context_.stage, queue).indexed;
}

void Quarantine::read_list() {
  const auto& list = context_.words().quarantine;
  for (; entries_read_ < list.capacity(); ++entries_read_) {
    const std::uint64_t entry = list.at(entries_read_);
    if (entry == kNever) return;  // free
    const auto [queue, number] = SampleAddress::of(entry);
    numbers_.insert(entry);
    if (by_id(queue)) ids_.insert({queue, errors_->source_id(queue, number)});
  }
}

bool Quarantine::has(QueueNumber queue, std::uint64_t number, std::uint64_t id) {
  if (empty()) [[likely]]
    return false;
  read_list();
  if (numbers_.contains(SampleAddress{queue, number}.word())) return true;
  return !ids_.empty() && ids_.contains({queue, id});
}

Result<std::uint64_t> Quarantine::skip(QueueNumber queue, const SlotHeader* headers,
                                       SlotStates& states) {
  if (empty()) [[likely]]
    return std::uint64_t{0};
  std::vector<SampleInfo> samples;
  for (std::uint64_t slot = 0; slot < states.slots(); ++slot) {
    const SlotHeader& header = headers[slot];
    if (!states.is_full(slot) || !has(queue, header.number, header.id)) continue;
    states.states[slot] = SlotState::empty;
    samples.push_back(header);
  }
  states.count();
  if (!samples.empty()) BRIGADE_TRY(skipped(queue, samples));
  return static_cast<std::uint64_t>(samples.size());
}

Result<void> Quarantine::skipped(QueueNumber queue, std::span<const SampleInfo> samples) {
  const int deaths = context_.stage->poison_after;
  for (const SampleInfo& sample : samples) {
    if (context_.reporter == nullptr) break;
    context_.reporter->quarantined({sample.number, sample.epoch, sample.index, sample.id,
                                    errors_->source_name(queue, sample)});
  }
  const Error cause{concat(
      context_.stage->batched ? "the batch" : "it", " has killed its worker ", format_times(deaths),
      context_.stage->on_error.skip ? "" : "; write `on_error: {skip: N}` to continue without it")};
  if (context_.stage->batched) return errors_->failed(queue, samples, cause);
  for (const SampleInfo& sample : samples) BRIGADE_TRY(errors_->failed(queue, {&sample, 1}, cause));
  return {};
}

}  // namespace brigade
