#pragma once

// Batches as tensors of LibTorch, 1.13 and later. Header-only: who includes it links LibTorch, and
// libbrigade does not.
//
//   for (const brigade::Batch& batch : run->output("train"))
//     step(brigade::to_torch(batch, "image"), brigade::to_torch(batch, "label"));
//
// Such a tensor is the graph's memory and co-owns its batch: the batch goes back when neither a
// handle nor a tensor is left, views and what autograd has saved included, on whatever thread.

#include <ATen/ATen.h>

#include <string_view>

#include <brigade/check.h>
#include <brigade/output.h>
#include <brigade/tensor.h>

namespace brigade {

inline at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return at::kBool;
    case DType::u8:
      return at::kByte;
    case DType::i8:
      return at::kChar;
    case DType::i16:
      return at::kShort;
    case DType::i32:
      return at::kInt;
    case DType::i64:
      return at::kLong;
    case DType::f16:
      return at::kHalf;
    case DType::bf16:
      return at::kBFloat16;
    case DType::f32:
      return at::kFloat;
    case DType::f64:
      return at::kDouble;
  }
  return at::kByte;
}

/// The same memory as a tensor; it dies with the view, and must not be written to.
inline at::Tensor torch_view(const TensorView& view) {
  const at::IntArrayRef sizes(view.shape().begin(), view.shape().end());
  return at::from_blob(const_cast<void*>(view.data()), sizes,
                       at::TensorOptions(scalar_type(view.dtype())));
}

/// A tensor of `batch`, or of a row of it (a ragged one of a row only, else it aborts): the batch's
/// memory, which the tensor co-owns, so that operations may work in place. Where the program may
/// not write (Batch::writable()) it is a copy, which holds no batch. Any thread; throws what
/// LibTorch throws.
inline at::Tensor to_torch(const Batch& batch, const TensorView& tensor) {
  BRIGADE_CHECK(batch.dense(tensor), "ragged: take it of batch.row(i)");
  if (!batch.writable(tensor)) return torch_view(tensor).clone();
  const at::IntArrayRef sizes(tensor.shape().begin(), tensor.shape().end());
  return at::from_blob(
      const_cast<void*>(tensor.data()), sizes, [held = batch](void*) mutable { /* until here */ },
      at::TensorOptions(scalar_type(tensor.dtype())));
}
/// [size(), ...]
inline at::Tensor to_torch(const Batch& batch, std::string_view name) {
  return to_torch(batch, batch[name]);
}

}  // namespace brigade
