#pragma once

// The memory of one stage's output: M slot headers, then one array of M fixed-stride slots per
// tensor. Slot s of the stream lies at s mod M in each of them, so a run of slots that does not
// wrap is contiguous in every array. Bytes only: what the arrays mean is the caller's business.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <brigade/check.h>
#include <brigade/sample_info.h>

namespace brigade {

enum class SlotState : std::uint8_t {
  full = 1,
  empty = 2,  ///< filtered, skipped or quarantined; keeps its number
  pad = 3     ///< past the end of the epoch
};

/// Written with the slot, before its task is DONE; immutable from then on until it is recycled.
struct SlotHeader : SampleInfo {
  SlotState state = SlotState::pad;
  std::uint8_t reserved[3] = {};
};
static_assert(sizeof(SlotHeader) == 32, "the plan counts 32 bytes a slot");
// So that headers that follow one another are an array of samples, too.
static_assert(sizeof(SlotHeader) == sizeof(SampleInfo),
              "the state lies where a sample has padding");

/// Of slots that follow one another.
inline std::span<const SampleInfo> samples_of(const SlotHeader* headers, std::uint64_t count) {
  return {static_cast<const SampleInfo*>(headers), count};
}

/// Where an array lies in the ring.
struct SlotArray {
  std::uint64_t offset_bytes = 0;
  std::uint64_t stride_bytes = 0;
};

/// A process's window on a ring it has mapped. Does not own the mapping.
class SlotRing {
 public:
  SlotRing() = default;
  SlotRing(std::byte* base, std::uint64_t slots, std::vector<SlotArray> arrays)
      : base_(base), slots_(slots), arrays_(std::move(arrays)) {}

  std::uint64_t slots() const { return slots_; }
  std::size_t arrays() const { return arrays_.size(); }
  std::uint64_t slot_index(std::uint64_t number) const {
    return (slots_ & (slots_ - 1)) == 0 ? number & (slots_ - 1) : number % slots_;
  }

  SlotHeader* headers(std::uint64_t number) const {
    return reinterpret_cast<SlotHeader*>(base_) + slot_index(number);
  }
  std::byte* slot(std::size_t array, std::uint64_t number) const {
    const SlotArray& a = arrays_[array];
    return base_ + a.offset_bytes + slot_index(number) * a.stride_bytes;
  }
  std::uint64_t stride(std::size_t array) const { return arrays_[array].stride_bytes; }

 private:
  std::byte* base_ = nullptr;
  std::uint64_t slots_ = 1;
  std::vector<SlotArray> arrays_;
};

}  // namespace brigade
