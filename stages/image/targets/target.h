#pragma once

// A target: data of an image that follow it through the operations of
// `augment` or the crop of decode_image: its mask, boxes or keypoints.
// A target draws no random numbers: it follows the moves of the image.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <brigade/record.h>
#include <brigade/types.h>
#include "stages/image/geometry/picture_move.h"
#include "stages/image/listed_types.h"
#include "stages/image/targets_param.h"

namespace brigade {

/// What annotations that were rounded may reach beyond their picture.
inline constexpr double kSlackPixels = 1;

/// What happened to the picture of a sample.
struct PictureTrip {
  PictureSize from;
  PictureSize to;
  std::span<const PictureMove> moves;
};

/// Which rows of a sample's tensor stay.
struct RowFilter {
  std::vector<std::uint8_t> kept;  ///< one for each row: 1 or 0
  std::int64_t count() const;
};

/// Made once per replica; one thread.
class BRIGADE_API Target {
 public:
  virtual ~Target() = default;

  /// Of the tensor that it moves.
  virtual const std::string& name() const = 0;
  /// Adds what it writes. An error where a tensor is missing or of another type than it takes.
  virtual Result<void> add_outputs(const Ports& in, const PictureDims& dims, Ports& out) const = 0;
  virtual Result<void> write(const Inputs& in, const PictureTrip& trip, Outputs& out) = 0;

  /// Tensors whose rows belong to its own.
  virtual std::vector<std::string> companions() const { return {}; }
  /// Of the sample written last, for others to follow; null: nothing may follow them.
  virtual const RowFilter* rows() const { return nullptr; }
  /// From now on the rows that stay are those of another target, which is written before it. False:
  /// it cannot do that, or follows others already.
  virtual bool follow_rows(std::string_view name, const RowFilter& rows) {
    static_cast<void>(name);
    static_cast<void>(rows);
    return false;
  }
  /// Says that another target writes this companion.
  virtual void leave(const std::string& name) { static_cast<void>(name); }
};

/// The type of an input tensor, or an error that names what there is.
Result<TensorType> target_type(const Ports& in, const std::string& name);
/// Once for each tensor.
Result<void> add_output(Ports& out, TensorType type);
/// Tensors with a row for each row of `rows`, as many at most.
Result<void> add_companions(const Ports& in, const TensorType& rows,
                            const std::vector<std::string>& names, Ports& out);
Result<void> write_companions(const Inputs& in, const RowFilter& rows,
                              const std::vector<std::string>& names, Outputs& out);
/// The rows that stay, from `from`, whose shape is `shape`.
Result<void> write_rows(const void* from, const Shape& shape, const RowFilter& rows,
                        TensorSlot slot);

/// The row that describes a kind of targets; targets.cpp puts all kinds into one table.
struct TargetType : ListedType {
  std::function<std::unique_ptr<Target>(const void* params)> make;
};

/// `T` is made of its Params.
template <class T>
TargetType target(const Contract<typename T::Params>& table) {
  return {listed_type(table), [](const void* params) -> std::unique_ptr<Target> {
            return std::make_unique<T>(*static_cast<const typename T::Params*>(params));
          }};
}

TargetType mask_target();
TargetType boxes_target();
TargetType keypoints_target();

}  // namespace brigade
