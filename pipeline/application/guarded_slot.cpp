#include "pipeline/application/guarded_slot.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <span>

#include <brigade/text.h>

namespace brigade {
namespace {

constexpr std::align_val_t kAlignment{64};  // as slots of rings have it
constexpr int kUnwritten = 0xff;
constexpr std::byte kGuard{0xa5};
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kGuardBytes = 0;
#else
constexpr std::size_t kGuardBytes = 256;
#endif

bool is_whole(const std::byte* guard) {
  const std::span<const std::byte> bytes(guard, kGuardBytes);
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte one) { return one == kGuard; });
}

std::size_t bytes_of(const Field& field, const Shape& shape) {
  return static_cast<std::size_t>(shape.elements()) * dtype_bytes(field.dtype);
}

}  // namespace

void GuardedSlot::Aligned::operator()(std::byte* memory) const {
  ::operator delete[](memory, kAlignment);
}

std::byte* GuardedSlot::Tensor::data() const { return memory.get() + kGuardBytes; }

void GuardedSlot::begin(Frame& frame) {
  tensors_.resize(frame.fields.size());
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    Field& field = frame.fields[i];
    Tensor& tensor = tensors_[i];
    if (!tensor.memory) {
      tensor.bytes = bytes_of(field, field.bounds);
      tensor.memory.reset(new (kAlignment) std::byte[tensor.bytes + 2 * kGuardBytes]);
    }
    tensor.in_ring = field.data;
    field.data = tensor.data();
    std::fill_n(tensor.memory.get(), kGuardBytes, kGuard);
    std::memset(tensor.data(), kUnwritten, tensor.bytes);
    std::fill_n(tensor.data() + tensor.bytes, kGuardBytes, kGuard);
  }
}

std::string GuardedSlot::beside(const Frame& frame) const {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const std::string name = quote(frame.fields[i].name);
    if (!is_whole(tensors_[i].memory.get())) return concat("before the beginning of ", name);
    if (!is_whole(tensors_[i].data() + tensors_[i].bytes))
      return concat("beyond the end of ", name);
  }
  return "";
}

void GuardedSlot::end(const Frame& frame) const {
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    std::memcpy(tensors_[i].in_ring, tensors_[i].data(),
                bytes_of(frame.fields[i], frame.fields[i].shape));
}

}  // namespace brigade
