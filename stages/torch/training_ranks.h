#pragma once

// The cooperation of torch_classifier with other ranks that train the same
// model: start from the same weights, average each step, add up the results
// of an epoch. All ranks have the same model after each step, to the bit.

#include <cstdint>
#include <memory>
#include <vector>

#include <brigade/stage.h>
#include "stages/torch/rank_group.h"
#include "stages/torch/tally.h"
#include "stages/torch/torch_classifier_contract.h"

namespace brigade {

class ClassifierModel;

class TrainingRanks {
 public:
  /// Meets the others, who have the same model and have trained it for as many `steps`.
  Result<void> join(const OpenContext& context, const TorchClassifierParams& params,
                    at::Device device, ClassifierModel& model, std::uint64_t steps);
  bool together() const { return group_ != nullptr; }

  /// Behind the backward pass over so many samples, which may be none: gradients of all ranks.
  Result<void> average(std::int64_t samples);
  /// All ranks take the first one's model.
  Result<void> be_alike();
  /// Of all ranks, read.
  Result<void> sum(Tally& tally);

 private:
  std::unique_ptr<RankGroup> group_;
  at::Device device_ = at::kCPU;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> statistics_;  // buffers of floats: means and variances
};

}  // namespace brigade
