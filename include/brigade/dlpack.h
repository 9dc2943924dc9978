#pragma once

// Batches for libraries that read DLPack (NumPy, CuPy, JAX, PyTorch, TVM): a tensor of a batch
// as a managed tensor that co-owns the batch. Its deleter releases the batch, on any thread.
//
//   auto* image = brigade::to_dlpack(batch, batch["image"]);
//   ...
//   image->deleter(image);
//
// The structures have the layout of version 1.0 of the DLPack specification
// (https://dmlc.github.io/dlpack/latest/c_api.html). A program with <dlpack/dlpack.h>
// uses its type: to_dlpack<DLManagedTensor>(batch, batch["image"]).

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include <brigade/check.h>
#include <brigade/output.h>
#include <brigade/tensor.h>

namespace brigade {
namespace dlpack {

struct Device {
  std::int32_t device_type;  ///< kCpu
  std::int32_t device_id;
};
struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements
  std::uint64_t byte_offset;
};

/// DLManagedTensor, for consumers before DLPack 1.0.
struct Managed {
  Tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(Managed*);
};

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};
/// DLManagedTensorVersioned.
struct Versioned {
  Version version;
  void* manager_ctx;
  void (*deleter)(Versioned*);
  std::uint64_t flags;  ///< kReadOnly
  Tensor dl_tensor;
};

inline constexpr int kCpu = 1;
inline constexpr std::uint64_t kReadOnly = 1;

/// kDLInt, kDLUInt, kDLFloat, kDLBfloat or kDLBool, and bits.
inline DataType data_type(DType dtype) {
  constexpr std::uint8_t kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kBool = 6;
  const auto bits = static_cast<std::uint8_t>(8 * dtype_bytes(dtype));
  switch (dtype) {
    case DType::boolean:
      return {kBool, bits, 1};
    case DType::u8:
      return {kUInt, bits, 1};
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
      return {kInt, bits, 1};
    case DType::bf16:
      return {kBfloat, bits, 1};
    case DType::f16:
    case DType::f32:
    case DType::f64:
      return {kFloat, bits, 1};
  }
  return {kUInt, bits, 1};
}

/// A managed tensor and what it keeps alive: the batch, or a copy.
template <class ManagedTensor>
struct Lease {
  struct Freed {
    void operator()(void* memory) const { operator delete(memory, kAlignment); }
  };
  static constexpr std::align_val_t kAlignment{256};  // as the specification asks for

  ManagedTensor managed{};
  std::array<std::int64_t, kRankMax> shape{};
  std::array<std::int64_t, kRankMax> strides{};
  std::optional<Batch> batch;
  std::unique_ptr<void, Freed> copy;

  void* copy_of(const TensorView& tensor) {
    copy.reset(operator new(tensor.bytes(), kAlignment));
    std::memcpy(copy.get(), tensor.data(), tensor.bytes());
    return copy.get();
  }
  void describe(const TensorView& tensor) {
    const int rank = tensor.shape().rank();
    std::int64_t stride = 1;
    for (int d = rank - 1; d >= 0; --d) {
      const auto at = static_cast<std::size_t>(d);
      shape[at] = tensor.shape()[d];
      strides[at] = stride;
      stride *= shape[at];
    }
    const DataType dtype = data_type(tensor.dtype());
    auto& to = managed.dl_tensor;
    to.device.device_type = static_cast<decltype(to.device.device_type)>(kCpu);
    to.device.device_id = 0;
    to.ndim = rank;
    to.dtype.code = dtype.code;
    to.dtype.bits = dtype.bits;
    to.dtype.lanes = dtype.lanes;
    to.shape = shape.data();
    to.strides = strides.data();
    to.byte_offset = 0;
  }
};

}  // namespace dlpack

/// A tensor of `batch` or of one of its rows; its deleter releases the batch. A ragged tensor must
/// come from a row, otherwise it aborts. ManagedTensor: dlpack::Versioned or dlpack::Managed, or
/// the same type of another header. If the program may not write it (Batch::writable()), a
/// versioned tensor is marked read-only; an unversioned one is a copy that does not hold the batch.
/// Any thread; throws std::bad_alloc.
template <class ManagedTensor = dlpack::Versioned>
ManagedTensor* to_dlpack(const Batch& batch, const TensorView& tensor) {
  using Held = dlpack::Lease<ManagedTensor>;
  BRIGADE_CHECK(batch.dense(tensor), "ragged: read it from batch.row(i)");
  auto lease = std::make_unique<Held>();
  ManagedTensor& managed = lease->managed;
  const bool writable = batch.writable(tensor);
  bool copied = !writable;
  if constexpr (requires { managed.flags; }) {
    managed.version.major = 1;
    managed.version.minor = 0;
    managed.flags = writable ? 0 : dlpack::kReadOnly;
    copied = false;
  }
  lease->describe(tensor);
  if (copied) {
    managed.dl_tensor.data = lease->copy_of(tensor);
  } else {
    managed.dl_tensor.data = const_cast<void*>(tensor.data());
    lease->batch = batch;
  }
  managed.manager_ctx = lease.get();
  managed.deleter = [](ManagedTensor* self) { delete static_cast<Held*>(self->manager_ctx); };
  return &lease.release()->managed;
}

}  // namespace brigade
