#pragma once

// Memory of a sample or a slot as a tensor of LibTorch, 1.13 and later: all that a stage needs of
// torch.h. Header-only: a file that includes it links LibTorch.

#include <ATen/ATen.h>

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

/// What a stage writes, as a tensor: `torch_view(out["y"]).copy_(y)`. It dies with the slot; a
/// ragged one is resized first.
inline at::Tensor torch_view(const TensorSlot& slot) {
  return torch_view(TensorView(slot.data(), slot.dtype(), slot.shape()));
}

}  // namespace brigade
