#include "pipeline/worker/replica/checkpoint_saver.h"

#include <utility>

#include "base/clock.h"
#include "pipeline/state/checkpoint_files.h"
#include "pipeline/state/read_position.h"
#include "pipeline/worker/tasks/guarded_call.h"

namespace brigade {

CheckpointSaver::CheckpointSaver(const ReplicaContext& context, Stage& stage,
                                 std::function<Result<void>()> save_shared)
    : context_(context),
      stage_(&stage),
      save_shared_(std::move(save_shared)),
      saved_samples_(samples()),
      saved_epoch_ends_(epoch_ends()),
      saved_ns_(monotonic_ns()) {}

std::uint64_t CheckpointSaver::samples() const {
  return context_.counters().samples.load(std::memory_order_relaxed);
}

std::uint64_t CheckpointSaver::epoch_ends() const {
  return context_.replica_words().ended.value.load(std::memory_order_relaxed);
}

bool CheckpointSaver::due() {
  const Plan& plan = *context_.plan;
  if (plan.checkpoint_samples > 0) return samples() >= saved_samples_ + plan.checkpoint_samples;
  if (plan.checkpoint_ns > 0)
    return samples() != saved_samples_ && monotonic_ns() >= saved_ns_ + plan.checkpoint_ns;
  return epoch_ends() != saved_epoch_ends_;
}

Result<void> CheckpointSaver::look() {
  if (!due()) [[likely]]
    return {};
  return save();
}

Result<void> CheckpointSaver::finish() {
  if (samples() == saved_samples_ && epoch_ends() == saved_epoch_ends_) return {};
  return save();
}

Result<void> CheckpointSaver::save() {
  // In the middle of such an epoch there is no position to resume from: the state of its beginning
  // stays.
  if (!position_is_exact(*context_.plan, *context_.resume, *context_.control, context_.stage_index))
    return {};
  const auto saved = guarded([&] { return stage_->save(); });
  if (!saved.ok()) return saved.error().within("save");
  if (save_shared_) BRIGADE_TRY(save_shared_());
  const PositionFile file{
      context_.stage->name,
      context_.resume->order,
      {read_position(*context_.plan, *context_.resume, *context_.control, context_.stage_index)}};
  BRIGADE_TRY(
      write_checkpoint(context_.stage->saved_file, *saved, context_.stage->position_file, file));
  saved_samples_ = samples();
  saved_epoch_ends_ = epoch_ends();
  saved_ns_ = monotonic_ns();
  return {};
}

}  // namespace brigade
