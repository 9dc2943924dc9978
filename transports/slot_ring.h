#pragma once

// The memory of one stage's output: M slot headers, then one array of M fixed-stride slots per
// tensor. Slot s of the stream lies at s mod M in each of them, so a run of slots that does
// not wrap is contiguous in every array. Bytes only: the caller knows what the arrays mean.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
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
  std::uint8_t reserved = 0;
  /// So many slots right before this one are FULL, as this one is; its writer may know of less than
  /// there are. Whoever writes a header anew takes that back, until note_full().
  std::uint16_t full_before = 0;
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
      : base_(base), slots_(slots), arrays_(std::move(arrays)) {
    for (const SlotArray& array : arrays_) begins_.push_back(base + array.offset_bytes);
  }

  /// Has an array lie elsewhere in this process: in a device's memory, whose addresses are pointers
  /// that only the device follows.
  void place(std::size_t array, std::byte* begin) { begins_[array] = begin; }

  std::uint64_t slots() const { return slots_; }
  std::size_t arrays() const { return arrays_.size(); }
  std::uint64_t slot_index(std::uint64_t number) const {
    return (slots_ & (slots_ - 1)) == 0 ? number & (slots_ - 1) : number % slots_;
  }

  SlotHeader* headers(std::uint64_t number) const {
    return reinterpret_cast<SlotHeader*>(base_) + slot_index(number);
  }
  std::byte* slot(std::size_t array, std::uint64_t number) const {
    return begins_[array] + slot_index(number) * arrays_[array].stride_bytes;
  }
  std::uint64_t stride(std::size_t array) const { return arrays_[array].stride_bytes; }

 private:
  std::byte* base_ = nullptr;
  std::uint64_t slots_ = 1;
  std::vector<SlotArray> arrays_;
  std::vector<std::byte*> begins_;  // of these
};

/// Right before a task is finished whose slots, `first` to `first + count - 1`, are all FULL: its
/// last header says so from then on. `in_order`: by the one replica that writes the ring task after
/// task, so that what the task before has said holds, too.
inline void note_full(const SlotRing& ring, std::uint64_t first, std::uint64_t count,
                      bool in_order) {
  std::uint64_t before = count - 1;
  if (in_order && first > 0) {
    // Of another number where that was not written by this run, or the task is the whole ring.
    const SlotHeader& previous = *ring.headers(first - 1);
    if (previous.number == first - 1 && previous.state == SlotState::full)
      before += 1 + previous.full_before;
  }
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint16_t>::max();
  ring.headers(first + count - 1)->full_before =
      static_cast<std::uint16_t>(std::min(before, kMost));
}

/// Of `count` headers that follow one another, whether one of each `step` is FULL and says so of
/// those before it; without a branch for each.
inline bool say_full(const SlotHeader* headers, std::uint64_t count, std::uint64_t step) {
  bool full = true;
  for (std::uint64_t slot = step - 1; slot < count; slot += step) {
    full &= headers[slot].state == SlotState::full;
    full &= headers[slot].full_before + 1u >= step;
  }
  return full;
}

/// Whether all of them are. Where the last one speaks for some, one of each so many is looked at;
/// where these do not speak for all, each is.
inline bool are_full(const SlotHeader* headers, std::uint64_t count) {
  const std::uint64_t step = std::min<std::uint64_t>(headers[count - 1].full_before + 1u, count);
  if (step > 1 && count % step == 0 && say_full(headers, count, step)) return true;
  return say_full(headers, count, 1);
}

}  // namespace brigade
