#include "stages/torch/training_ranks.h"

#include <brigade/text.h>
#include "stages/torch/classifier_model.h"

namespace brigade {

Result<void> TrainingRanks::join(const OpenContext& context, const TorchClassifierParams& params,
                                 at::Device device, ClassifierModel& model, std::uint64_t steps) {
  if (!params.data_parallel) return {};
  const std::chrono::nanoseconds limit(params.rank_timeout.nanoseconds);
  BRIGADE_ASSIGN(
      const RankPlace place,
      RankPlace::from_environment(std::chrono::duration_cast<std::chrono::milliseconds>(limit)));
  if (place.world <= 1) return {};
  if (context.again)
    return Error{
        "a failed rank cannot rejoin the others; restart all ranks with --resume from their last "
        "checkpoints"};
  device_ = device;
  parameters_ = model.parameters();
  for (const at::Tensor& buffer : model.buffers())
    if (buffer.is_floating_point()) statistics_.push_back(buffer);
  BRIGADE_ASSIGN(group_, RankGroup::join(place, device));
  std::int64_t numbers = 0;
  for (const at::Tensor& parameter : parameters_) numbers += parameter.numel();
  BRIGADE_TRY(group_->check_same("model and step",
                                 concat("a model of ", numbers, " parameters at step ", steps)));
  return be_alike();
}

Result<void> TrainingRanks::average(std::int64_t samples) {
  return together() ? average_step(*group_, parameters_, statistics_, samples) : Result<void>();
}

Result<void> TrainingRanks::be_alike() {
  if (!together()) return {};
  BRIGADE_TRY(begin_alike(*group_, parameters_));
  return begin_alike(*group_, statistics_);
}

Result<void> TrainingRanks::sum(Tally& tally) {
  if (!together()) return {};
  Tally::Sums& own = tally.sums();
  at::Tensor all =
      at::tensor({own.loss, static_cast<double>(own.hits), static_cast<double>(own.near_hits),
                  static_cast<double>(own.samples)},
                 at::kDouble)
          .to(device_);
  BRIGADE_TRY(group_->sum(all));
  all = all.cpu();
  const auto sums = all.accessor<double, 1>();
  own = {sums[0], static_cast<std::uint64_t>(sums[1]), static_cast<std::uint64_t>(sums[2]),
         static_cast<std::uint64_t>(sums[3])};
  return {};
}

}  // namespace brigade
