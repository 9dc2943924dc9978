#pragma once

// The processes that train one model together, a rank each, by LibTorch's c10d: gloo between CPUs,
// NCCL between GPUs. All ranks make the same calls in the same order, from one thread each. Data
// that do not arrive within the time limit, because a rank is missing or has died, are an error.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>

#include <brigade/result.h>

namespace brigade {

struct RankPlace {
  int rank = 0;
  int world = 1;
  std::string address;     ///< where rank 0 listens ...
  std::uint16_t port = 0;  ///< ... or the launcher does
  bool launcher_listens = false;
  std::chrono::milliseconds time_limit{};

  /// By RANK and WORLD_SIZE, which every worker of a run with several ranks has, and MASTER_ADDR
  /// and MASTER_PORT, which launchers such as torchrun set and which are needed where `world` is
  /// not 1.
  static Result<RankPlace> from_environment(std::chrono::milliseconds time_limit);
};

class RankGroup {
 public:
  virtual ~RankGroup() = default;

  /// Waits until all have come.
  static Result<std::unique_ptr<RankGroup>> join(const RankPlace& place, at::Device device);

  /// What all have becomes the sum of what each had.
  virtual Result<void> sum(at::Tensor& values) = 0;
  /// What all have becomes what rank 0 has.
  virtual Result<void> take_from_first(at::Tensor& values) = 0;
  /// An error where the ranks' texts differ; `what` they are, for it.
  virtual Result<void> check_same(std::string_view what, const std::string& text) = 0;
};

/// What a step of a rank adds to that of all: its gradients and, since its model has seen only its
/// samples, what batch normalisation has learned of them.
///
/// Gradients become their mean over all samples of all ranks, and so do the statistics: of
/// `samples`, which may be 0, this rank's are. All ranks have the same bits afterwards.
Result<void> average_step(RankGroup& group, const std::vector<at::Tensor>& parameters,
                          const std::vector<at::Tensor>& statistics, std::int64_t samples);

/// Parameters and buffers of the first rank, for all.
Result<void> begin_alike(RankGroup& group, const std::vector<at::Tensor>& tensors);

}  // namespace brigade
