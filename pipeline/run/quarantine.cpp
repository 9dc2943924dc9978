#include "pipeline/run/quarantine.h"

#include "base/text.h"
#include "base/units.h"

namespace brigade {

bool Quarantine::by_id(int lane) const {
  return !context_.stage->batched && id_source(*context_.plan, *context_.stage, lane).indexed;
}

void Quarantine::read_list() {
  const auto& list = context_.words().quarantine;
  for (; entries_read_ < list.capacity(); ++entries_read_) {
    const std::uint64_t entry = list.at(entries_read_);
    if (entry == kNever) return;  // free
    const int lane = lane_of(entry);
    numbers_.insert(entry);
    if (by_id(lane)) ids_.insert(lane_number(lane, errors_->source_id(lane, number_of(entry))));
  }
}

bool Quarantine::has(int lane, std::uint64_t number, std::uint64_t id) {
  if (empty()) [[likely]]
    return false;
  read_list();
  if (numbers_.contains(lane_number(lane, number))) return true;
  return !ids_.empty() && ids_.contains(lane_number(lane, id));
}

Result<std::uint64_t> Quarantine::leave_out(int lane, const RowHeader* headers, RowStates& states) {
  if (empty()) [[likely]]
    return std::uint64_t{0};
  std::vector<SampleInfo> samples;
  for (std::uint64_t row = 0; row < states.rows(); ++row) {
    const RowHeader& header = headers[row];
    if (!states.is_full(row) || !has(lane, header.number, header.id)) continue;
    states.states[row] = RowState::hole;
    samples.push_back({header.number, header.index, header.id, header.epoch});
  }
  states.count();
  if (!samples.empty()) BRIGADE_TRY(left_out(lane, samples));
  return static_cast<std::uint64_t>(samples.size());
}

Result<void> Quarantine::left_out(int lane, std::span<const SampleInfo> samples) {
  const int deaths = context_.stage->poison_after;
  for (const SampleInfo& sample : samples) {
    if (context_.reporter == nullptr) break;
    context_.reporter->quarantined(
        {sample.number, sample.epoch, sample.index, sample.id, errors_->source_name(lane, sample)});
  }
  const Error cause{concat(
      context_.stage->batched ? "the batch" : "it", " has ended its worker ", format_times(deaths),
      context_.stage->on_error.skip ? "" : "; `on_error: {skip: N}` would go on without it")};
  if (context_.stage->batched) return errors_->failed(lane, samples, cause);
  for (const SampleInfo& sample : samples) BRIGADE_TRY(errors_->failed(lane, {&sample, 1}, cause));
  return {};
}

}  // namespace brigade
