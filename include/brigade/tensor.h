#pragma once

// Tensors as a stage sees them: dense, row-major memory that belongs to the runtime.
// A TensorView is read-only, a TensorSlot is where a stage writes its output in
// place. Both point into shared memory, cost nothing to copy and are valid until the
// stage's process() returns. One thread at a time; nothing here allocates.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <brigade/check.h>
#include <brigade/export.h>
#include <brigade/result.h>

namespace brigade {

enum class DType : std::uint8_t { boolean, u8, i8, i16, i32, i64, f16, bf16, f32, f64 };
using enum DType;

/// 16-bit floating point as raw bits: IEEE half and bfloat16. Convert with your tensor library.
struct Half {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

/// Bytes of one element.
BRIGADE_API std::size_t dtype_bytes(DType dtype);
/// "u8", "f32", "bool", ...
BRIGADE_API std::string_view dtype_name(DType dtype);
/// Also torch's names: "uint8", "torch.float32", "long".
BRIGADE_API std::optional<DType> parse_dtype(std::string_view name);

template <class T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<bool>() {
  return DType::boolean;
}
template <>
constexpr DType dtype_of<std::uint8_t>() {
  return DType::u8;
}
template <>
constexpr DType dtype_of<std::int8_t>() {
  return DType::i8;
}
template <>
constexpr DType dtype_of<std::int16_t>() {
  return DType::i16;
}
template <>
constexpr DType dtype_of<std::int32_t>() {
  return DType::i32;
}
template <>
constexpr DType dtype_of<std::int64_t>() {
  return DType::i64;
}
template <>
constexpr DType dtype_of<Half>() {
  return DType::f16;
}
template <>
constexpr DType dtype_of<BFloat16>() {
  return DType::bf16;
}
template <>
constexpr DType dtype_of<float>() {
  return DType::f32;
}
template <>
constexpr DType dtype_of<double>() {
  return DType::f64;
}

inline constexpr int kRankMax = 8;  ///< dimensions of a tensor, the batch dimension included

/// The sizes of a tensor's dimensions, outermost first; rank 0 is a scalar.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes) {
    for (auto size : sizes) push_back(size);
  }

  void push_back(std::int64_t size) {
    BRIGADE_CHECK(rank_ < kRankMax, rank_);
    sizes_[static_cast<std::size_t>(rank_++)] = size;
  }
  int rank() const { return rank_; }
  std::int64_t operator[](int dimension) const {
    return sizes_[static_cast<std::size_t>(dimension)];
  }
  std::int64_t& operator[](int dimension) { return sizes_[static_cast<std::size_t>(dimension)]; }
  const std::int64_t* begin() const { return sizes_.data(); }
  const std::int64_t* end() const { return sizes_.data() + rank_; }
  std::int64_t elements() const {
    std::int64_t product = 1;
    for (auto size : *this) product *= size;
    return product;
  }
  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  std::array<std::int64_t, kRankMax> sizes_{};
  int rank_ = 0;
};

/// "[28, 28, 1]".
BRIGADE_API std::string shape_text(const Shape& shape);

/// A tensor in device memory (`memory: device`), read or written there. Work enqueued on `stream`
/// in process() may still run when process() returns: the task ends when that work is done.
struct DeviceTensor {
  void* data = nullptr;  ///< a device address: a CUdeviceptr
  DType dtype = DType::u8;
  const Shape* shape = nullptr;  ///< owned by the record, as in a TensorView
  void* stream = nullptr;        ///< stream of the replica: a CUstream (same as cudaStream_t)

  std::size_t bytes() const {
    return static_cast<std::size_t>(shape->elements()) * dtype_bytes(dtype);
  }
};

/// A tensor that a stage reads. Per-sample stages see one sample ([H, W, C]), per-batch stages a
/// batch ([B, H, W, C]).
class TensorView {
 public:
  TensorView() = default;
  TensorView(const void* data, DType dtype, const Shape& shape)
      : data_(data), shape_(&shape), dtype_(dtype) {}

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return *shape_; }
  std::int64_t elements() const { return shape_->elements(); }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * dtype_bytes(dtype_); }
  const void* data() const { return data_; }

  /// The elements; T must match dtype() (otherwise aborts: a bug of the stage).
  template <class T>
  std::span<const T> as() const {
    BRIGADE_CHECK(dtype_of<T>() == dtype_, dtype_name(dtype_));
    return {static_cast<const T*>(data_), static_cast<std::size_t>(elements())};
  }

 private:
  const void* data_ = nullptr;
  const Shape* shape_ = nullptr;  // owned by the record
  DType dtype_ = DType::u8;
};

/// Where a stage writes one output tensor. The contract fixes the shape; a ragged tensor (one with
/// upper bounds) must be resized to its actual shape before its elements are written.
class TensorSlot {
 public:
  TensorSlot() = default;
  TensorSlot(void* data, DType dtype, Shape& shape, const Shape& bounds, bool ragged)
      : data_(data), shape_(&shape), bounds_(&bounds), dtype_(dtype), ragged_(ragged) {}

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return *shape_; }
  const Shape& bounds() const { return *bounds_; }
  std::int64_t elements() const { return shape_->elements(); }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * dtype_bytes(dtype_); }
  void* data() const { return data_; }

  template <class T>
  std::span<T> as() const {
    BRIGADE_CHECK(dtype_of<T>() == dtype_, dtype_name(dtype_));
    return {static_cast<T*>(data_), static_cast<std::size_t>(elements())};
  }

  /// Ragged tensors only: sets this sample's shape; an error if it exceeds the contract's bounds.
  BRIGADE_API Result<void> resize(const Shape& shape);
  template <class T>
  Result<std::span<T>> resize(const Shape& shape) {
    BRIGADE_TRY(resize(shape));
    return as<T>();
  }

 private:
  void* data_ = nullptr;
  Shape* shape_ = nullptr;  // owned by the record
  const Shape* bounds_ = nullptr;
  DType dtype_ = DType::u8;
  bool ragged_ = false;
};

}  // namespace brigade
