// Operations that choose among others: RandAugment (Cubuk, Zoph, Shlens, Le: "RandAugment:
// Practical automated data augmentation with a reduced search space", NeurIPS 2020) and
// TrivialAugment (Mueller, Hutter: "TrivialAugment: Tuning-free Yet State-of-the-Art Data
// Augmentation", ICCV 2021), with the choices and strengths that torchvision gives them.

#include <cmath>
#include <numbers>

#include "stages/image/augment/adjust.h"
#include "stages/image/augment/operation.h"
#include "stages/image/augment/warp.h"

namespace brigade {
namespace {

constexpr double kBinsMax = 1000;

/// The strongest of each choice; the weakest is 0 (posterize: 8 bits, solarize: 255).
struct Strengths {
  double shear = 0;             ///< tangent
  double translate_pixels = 0;  ///< 0: the share below
  double translate_share = 0;   ///< of the side
  double degrees = 0;
  double color = 0;           ///< how far a factor is from 1
  double posterize_bits = 0;  ///< that are taken away
};

constexpr Strengths kRandAugment{0.3, 0, 150.0 / 331, 30, 0.9, 4};
constexpr Strengths kTrivialAugment{0.99, 32, 0, 135, 0.99, 6};

/// In the order in which a drawn number names them.
enum class Choice : std::uint8_t {
  identity,
  shear_x,
  shear_y,
  translate_x,
  translate_y,
  rotate,
  brightness,
  color,
  contrast,
  sharpness,
  posterize,
  solarize,
  autocontrast,
  equalize
};
constexpr std::uint64_t kChoices = 14;

bool is_signed(Choice choice) { return choice >= Choice::shear_x && choice <= Choice::sharpness; }
bool has_strength(Choice choice) { return choice >= Choice::shear_x && choice <= Choice::solarize; }

/// Step `bin` of `bins`; the last is the strongest. `sign`: 1 or -1.
struct Strength {
  double bin = 0;
  double bins = 2;
  double sign = 1;

  /// Of the strongest.
  double of(double most) const { return most * bin / (bins - 1); }
};

AffineParts shear_about_corner(const Canvas& canvas, double tangent, bool rows) {
  AffineParts parts;
  (rows ? parts.shear_x : parts.shear_y) = std::atan(tangent) * 180 / std::numbers::pi;
  parts.center_x = -0.5 * static_cast<double>(canvas.size().width);
  parts.center_y = -0.5 * static_cast<double>(canvas.size().height);
  return parts;
}

double shift_of(const Strengths& most, std::int64_t side, const Strength& strength) {
  const double pixels = most.translate_pixels > 0
                            ? most.translate_pixels
                            : most.translate_share * static_cast<double>(side);
  return strength.sign * std::trunc(strength.of(pixels));
}

void apply_choice(Canvas& canvas, Choice choice, const Strengths& most, const Strength& strength,
                  const Border& border) {
  AffineParts parts;
  switch (choice) {
    case Choice::identity:
      return;
    case Choice::shear_x:
    case Choice::shear_y:
      parts = shear_about_corner(canvas, strength.sign * strength.of(most.shear),
                                 choice == Choice::shear_x);
      return warp_affine(canvas, inverse_affine(parts), border);
    case Choice::translate_x:
      parts.translate_x = shift_of(most, canvas.size().width, strength);
      return warp_affine(canvas, inverse_affine(parts), border);
    case Choice::translate_y:
      parts.translate_y = shift_of(most, canvas.size().height, strength);
      return warp_affine(canvas, inverse_affine(parts), border);
    case Choice::rotate:
      parts.degrees = -strength.sign * strength.of(most.degrees);
      return warp_affine(canvas, inverse_affine(parts), border);
    case Choice::brightness:
      return adjust_brightness(canvas, 1 + strength.sign * strength.of(most.color));
    case Choice::color:
      return adjust_saturation(canvas, 1 + strength.sign * strength.of(most.color));
    case Choice::contrast:
      return adjust_contrast(canvas, 1 + strength.sign * strength.of(most.color));
    case Choice::sharpness:
      return adjust_sharpness(canvas, 1 + strength.sign * strength.of(most.color));
    case Choice::posterize:
      return posterize(canvas,
                       8 - static_cast<int>(std::nearbyint(strength.of(most.posterize_bits))));
    case Choice::solarize:
      return solarize(canvas, 255 - strength.of(255));
    case Choice::autocontrast:
      return autocontrast(canvas);
    case Choice::equalize:
      return equalize(canvas);
  }
}

/// A fill of 0 is none.
Border border_of(const BorderParams& params) {
  Border border = params.border();
  border.shows = border.fill > 0;
  return border;
}

double drawn_sign(Choice choice, Philox& random) {
  return is_signed(choice) && random.below(2) == 1 ? -1 : 1;
}

class RandAugment : public Operation {
 public:
  struct Params : BorderParams {
    std::int64_t num_ops = 2;
    std::int64_t magnitude = 9;
    std::int64_t num_magnitude_bins = 31;
    Result<void> check() const {
      if (magnitude < num_magnitude_bins) return {};
      return Error{"magnitude must be below num_magnitude_bins"};
    }
  };
  explicit RandAugment(const Params& params) : params_(params) {}
  Result<void> accepts(std::int64_t channels) const override { return of_gray_or_rgb(channels); }
  bool draws() const override { return params_.num_ops > 0; }
  void run(Canvas& canvas, Philox& random) override {
    const auto bin = static_cast<double>(params_.magnitude);
    const auto bins = static_cast<double>(params_.num_magnitude_bins);
    for (std::int64_t i = 0; i < params_.num_ops; ++i) {
      const auto choice = static_cast<Choice>(random.below(kChoices));
      apply_choice(canvas, choice, kRandAugment, {bin, bins, drawn_sign(choice, random)},
                   border_of(params_));
    }
  }

 private:
  Params params_;
};

class TrivialAugment : public Operation {
 public:
  struct Params : BorderParams {
    std::int64_t num_magnitude_bins = 31;
  };
  explicit TrivialAugment(const Params& params) : params_(params) {}
  Result<void> accepts(std::int64_t channels) const override { return of_gray_or_rgb(channels); }
  bool draws() const override { return true; }
  void run(Canvas& canvas, Philox& random) override {
    const auto choice = static_cast<Choice>(random.below(kChoices));
    const auto bins = static_cast<std::uint64_t>(params_.num_magnitude_bins);
    const std::uint64_t bin = has_strength(choice) ? random.below(bins) : 0;
    const Strength strength{static_cast<double>(bin), static_cast<double>(bins),
                            drawn_sign(choice, random)};
    apply_choice(canvas, choice, kTrivialAugment, strength, border_of(params_));
  }

 private:
  Params params_;
};

}  // namespace

void add_policies(std::vector<OperationType>& types) {
  constexpr const char* kBinsHelp = "number of steps of the strength";
  types.push_back(operation<RandAugment>(with_border(
      Contract<RandAugment::Params>("rand_augment",
                                    "RandAugment: several random operations of the same strength.")
          .param("num_ops", &RandAugment::Params::num_ops, 0, 100,
                 "number of operations, applied one after another")
          .param("magnitude", &RandAugment::Params::magnitude, 0, kBinsMax,
                 "strength of the operations, a step from 0 to num_magnitude_bins - 1")
          .param("num_magnitude_bins", &RandAugment::Params::num_magnitude_bins, 2, kBinsMax,
                 kBinsHelp))));
  types.push_back(operation<TrivialAugment>(with_border(
      Contract<TrivialAugment::Params>("trivial_augment_wide",
                                       "TrivialAugment: one random operation of random strength.")
          .param("num_magnitude_bins", &TrivialAugment::Params::num_magnitude_bins, 2, kBinsMax,
                 kBinsHelp))));
}

}  // namespace brigade
