#pragma once

// Losses and hits of one epoch, added up without waiting for the device.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <iomanip>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <brigade/result.h>

namespace brigade {

/// "0.976"
inline std::string three_decimals(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(3) << value;
  return text.str();
}

/// Over the batches of one epoch of one source. Losses and hits stay on the device until read.
class Tally {
 public:
  struct Step {
    at::Tensor loss;  // mean over its samples
    at::Tensor hits;
    std::int64_t samples = 0;
    at::Tensor near_hits = {};  // among the best scores; where they are asked for
  };

  void add(Step step) { pending_.push_back(std::move(step)); }
  std::size_t pending() const { return pending_.size(); }

  /// Waits for the device; calls fn(loss) for each step that was pending.
  template <class Fn>
  Result<void> read(Fn fn) {
    for (const Step& step : pending_) {
      const double loss = step.loss.item<float>();
      sums_.loss += loss * static_cast<double>(step.samples);
      sums_.hits += static_cast<std::uint64_t>(step.hits.item<std::int64_t>());
      if (step.near_hits.defined())
        sums_.near_hits += static_cast<std::uint64_t>(step.near_hits.item<std::int64_t>());
      sums_.samples += static_cast<std::uint64_t>(step.samples);
      BRIGADE_TRY(fn(loss));
    }
    pending_.clear();
    return {};
  }

  std::uint64_t samples() const { return sums_.samples; }
  /// What the steps that were read add up to.
  struct Sums {
    double loss = 0;
    std::uint64_t hits = 0;
    std::uint64_t near_hits = 0;
    std::uint64_t samples = 0;
  };
  Sums& sums() { return sums_; }

  double loss() const { return samples() > 0 ? sums_.loss / static_cast<double>(samples()) : 0; }
  double accuracy() const { return share(sums_.hits); }
  double near_accuracy() const { return share(sums_.near_hits); }

 private:
  double share(std::uint64_t hits) const {
    return samples() > 0 ? static_cast<double>(hits) / static_cast<double>(samples()) : 0;
  }

  std::vector<Step> pending_;
  Sums sums_;
};

}  // namespace brigade
