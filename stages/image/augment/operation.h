#pragma once

// One operation of the stage `augment`, and the row that describes it: its name
// (torchvision's, in snake_case), its parameters, and how it is made of them.
// operations.cpp lists all rows; a row's function is in the file of its kind. Users rely
// on the random numbers that an operation draws: docs/AUGMENTATION.md has the order.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <brigade/contract.h>
#include <brigade/random.h>
#include "stages/image/augment/canvas.h"
#include "stages/image/listed_types.h"

namespace brigade {

/// Made once per replica; one thread.
class Operation {
 public:
  virtual ~Operation() = default;

  /// The size of its result, or why pictures of this size cannot be worked on.
  virtual Result<PictureSize> size_of(PictureSize in) const { return in; }
  /// That of all results, whatever the pictures have; nothing: it depends on the picture.
  virtual std::optional<PictureSize> fixed_size() const { return std::nullopt; }
  /// Whether every result has the size of its picture.
  virtual bool keeps_size() const { return true; }
  /// Of which its result is made, one below the other; of more than one it is the last operation.
  virtual std::int64_t pictures() const { return 1; }
  /// An error where pictures of so many channels cannot be worked on.
  virtual Result<void> accepts(std::int64_t channels) const {
    static_cast<void>(channels);
    return {};
  }
  virtual bool draws() const { return false; }
  /// The canvas has a size that size_of() accepts.
  virtual void run(Canvas& canvas, Philox& random) = 0;
};

struct OperationType : ListedType {
  std::function<Result<std::unique_ptr<Operation>>(const void* params)> make;
};

/// `table`: name, help and parameters. `Op` is made of its Params, which may have a check().
template <class Op>
OperationType operation(const Contract<typename Op::Params>& table) {
  using Params = typename Op::Params;
  return {listed_type(table), [](const void* data) -> Result<std::unique_ptr<Operation>> {
            const auto& params = *static_cast<const Params*>(data);
            if constexpr (requires { params.check(); }) BRIGADE_TRY(params.check());
            return std::unique_ptr<Operation>(std::make_unique<Op>(params));
          }};
}

/// What has a meaning for gray and RGB alone.
Result<void> of_gray_or_rgb(std::int64_t channels);

/// An error where a picture would be larger than any may be.
Result<PictureSize> of_bounded_sides(PictureSize size);

/// Drawn from one uniform(); not drawn where it is certain.
inline bool happens(Philox& random, double probability) {
  return probability >= 1 || (probability > 0 && random.chance(probability));
}
inline bool uncertain(double probability) { return probability > 0 && probability < 1; }

/// An operation without a choice but whether: with the probability that its parameters have as `p`.
template <class P, void (*change)(Canvas&, const P&)>
class ByChance : public Operation {
 public:
  using Params = P;
  explicit ByChance(const P& params) : params_(params) {}
  bool draws() const override { return uncertain(params_.p); }
  void run(Canvas& canvas, Philox& random) override {
    if (happens(random, params_.p)) change(canvas, params_);
  }

 private:
  P params_;
};

struct ChanceParams {
  double p = 0.5;
};
template <void (*change)(Canvas&)>
void change_alike(Canvas& canvas, const ChanceParams&) {
  change(canvas);
}
/// One that does always the same.
template <void (*change)(Canvas&)>
using Sometimes = ByChance<ChanceParams, change_alike<change>>;

/// A number, or a lower and an upper limit: `0.4` or `[0.6, 1.4]`.
struct NumberOrRange {
  double low = 0;
  double high = 0;
  bool is_range = false;

  /// As torchvision reads it: one number is that far around `center`, not below `least`.
  NumberOrRange around(double center, double least) const {
    return is_range ? *this : NumberOrRange{std::max(center - high, least), center + high, true};
  }
  bool is_one() const { return low >= high; }
  /// One number may not be negative.
  Result<void> check(std::string_view name) const;
  /// One uniform(), unless there is one value.
  double draw(Philox& random) const { return is_one() ? low : random.uniform(low, high); }
};
Result<void> parse_param(const ParamValue& value, NumberOrRange& out);
ParamValue print_param(const NumberOrRange& value);
template <>
constexpr ParamType param_type_of<NumberOrRange>() {
  return ParamType::number_or_range;
}

/// Height and width: `224` is a square.
struct SidesParam {
  std::int64_t height = 0;
  std::int64_t width = 0;
  PictureSize size() const { return {height, width}; }
};
Result<void> parse_param(const ParamValue& value, SidesParam& out);
ParamValue print_param(const SidesParam& value);
template <>
constexpr ParamType param_type_of<SidesParam>() {
  return ParamType::integers;
}

// The rows of all operations, by kind: one function and one file each.

void add_cuts(std::vector<OperationType>& types);        ///< pad, crops, flips
void add_resizes(std::vector<OperationType>& types);     ///< of all, of a random part
void add_warps(std::vector<OperationType>& types);       ///< rotation, affine, perspective
void add_colors(std::vector<OperationType>& types);      ///< colours of each pixel by itself
void add_histograms(std::vector<OperationType>& types);  ///< autocontrast, equalize
void add_filters(std::vector<OperationType>& types);     ///< blur, sharpness
void add_erasing(std::vector<OperationType>& types);     ///< random_erasing
void add_policies(std::vector<OperationType>& types);    ///< rand_augment, trivial_augment_wide

}  // namespace brigade
