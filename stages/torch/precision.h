#pragma once

// Mixed precision: while an Autocast lives, the model's heavy operations run in
// 16 bits and its weights stay f32. f16 has a small exponent range, so its loss
// is scaled up before the backward pass, and the gradients are scaled back.

#include <ATen/ATen.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "stages/torch/torch_adapter.h"
#include "stages/torch/torch_classifier_contract.h"

namespace brigade {

inline at::ScalarType scalar_type(TorchClassifierParams::Precision precision) {
  using Precision = TorchClassifierParams::Precision;
  if (precision == Precision::f16) return at::kHalf;
  return precision == Precision::bf16 ? at::kBFloat16 : at::kFloat;
}

/// Of this thread. f32: does nothing.
class Autocast {
 public:
  Autocast(at::Device device, at::ScalarType dtype)
      : device_(device.type()), on_(dtype != at::kFloat) {
    if (on_) set_autocast(device_, dtype);
  }
  ~Autocast() {
    if (on_) end_autocast(device_);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::DeviceType device_;
  bool on_;
};

/// The loss's scale: halved when gradients do not fit, which then are not used, and doubled after
/// kStepsToDouble steps that did; so does torch.amp.GradScaler. The members are what is saved.
struct LossScale {
  static constexpr std::uint64_t kStepsToDouble = 2000;

  bool on = false;
  double scale = 65536;
  std::uint64_t good_steps = 0;

  at::Tensor scaled(const at::Tensor& loss) const { return on ? loss * scale : loss; }

  /// Scales gradients back. False: they are not to be used. Waits for the device.
  bool unscale(const std::vector<at::Tensor>& parameters) {
    if (!on) return true;
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& parameter : parameters)
      if (parameter.grad().defined()) gradients.push_back(parameter.grad());
    if (gradients.empty()) return true;
    at::_foreach_mul_(gradients, 1 / scale);
    const double norm = at::stack(at::_foreach_norm(gradients)).sum().item<double>();
    if (!std::isfinite(norm)) {
      scale /= 2;
      good_steps = 0;
      return false;
    }
    if (++good_steps < kStepsToDouble) return true;
    scale *= 2;
    good_steps = 0;
    return true;
  }
};

}  // namespace brigade
