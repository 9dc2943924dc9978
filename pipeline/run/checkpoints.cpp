#include "pipeline/run/checkpoints.h"

#include "base/clock.h"
#include "pipeline/run/checkpoint_files.h"
#include "pipeline/run/position_of.h"
#include "pipeline/run/task_work.h"

namespace brigade {

Checkpoints::Checkpoints(const ReplicaContext& context, Stage& stage)
    : context_(context),
      stage_(&stage),
      saved_samples_(samples()),
      saved_epoch_ends_(epoch_ends()),
      saved_ns_(monotonic_ns()) {}

std::uint64_t Checkpoints::samples() const {
  return context_.counters().samples.load(std::memory_order_relaxed);
}

std::uint64_t Checkpoints::epoch_ends() const {
  return context_.replica_words().ended.value.load(std::memory_order_relaxed);
}

bool Checkpoints::due() {
  const Plan& plan = *context_.plan;
  if (plan.checkpoint_samples > 0) return samples() >= saved_samples_ + plan.checkpoint_samples;
  if (plan.checkpoint_ns > 0)
    return samples() != saved_samples_ && monotonic_ns() >= saved_ns_ + plan.checkpoint_ns;
  return epoch_ends() != saved_epoch_ends_;
}

Result<void> Checkpoints::look() {
  if (!due()) [[likely]]
    return {};
  return save();
}

Result<void> Checkpoints::finish() {
  if (samples() == saved_samples_ && epoch_ends() == saved_epoch_ends_) return {};
  return save();
}

Result<void> Checkpoints::save() {
  // In the middle of such an epoch there is no position to go on from: the state of its beginning
  // stays.
  if (!position_is_exact(*context_.plan, *context_.control, context_.stage_index)) return {};
  const auto saved = guarded([&] { return stage_->save(); });
  if (!saved.ok()) return Error{concat(context_.name(), ", save: ", saved.error().message)};
  const PositionFile file{context_.stage->name,
                          context_.plan->order,
                          {position_of(*context_.plan, *context_.control, context_.stage_index)}};
  const auto written =
      write_checkpoint(context_.stage->saved_file, *saved, context_.stage->position_file, file);
  if (!written.ok()) return Error{concat(context_.name(), ": ", written.error().message)};
  saved_samples_ = samples();
  saved_epoch_ends_ = epoch_ends();
  saved_ns_ = monotonic_ns();
  return {};
}

}  // namespace brigade
