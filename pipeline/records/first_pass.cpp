#include "pipeline/records/first_pass.h"

#include <algorithm>

#include "base/mapping.h"
#include "transports/limits.h"

namespace brigade {
namespace {

constexpr std::uint64_t kChunkBytes = 256 << 10;

// Outwards to whole pages: an array begins on one, and the bytes up to the next are nobody's.
bool fill_page_tables(const void* data, std::uint64_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = begin / kPageBytes * kPageBytes;
  const std::uintptr_t end = (begin + bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  return populate_pages(reinterpret_cast<void*>(first), end - first);
}

}  // namespace

FirstPass::FirstPass(const PlanRing& ring, const SlotRing& slots, std::uint64_t slots_at_once)
    : slots_(slots) {
  std::uint64_t slot_bytes = sizeof(SlotHeader);
  for (std::size_t i = 0; i < ring.tensors.size(); ++i) {
    const TensorType& type = ring.tensors[i].type;
    if (type.on_device || (ring.sparse && type.ragged())) continue;
    arrays_.push_back(i);
    slot_bytes += ring.tensors[i].slot_stride;
  }
  const std::uint64_t all = slots.slots();
  // Whole tasks, so that a task lies in one chunk: the ring is a multiple of them.
  const std::uint64_t tasks =
      std::max<std::uint64_t>(kChunkBytes / (slot_bytes * slots_at_once), 1);
  chunk_slots_ = std::min(tasks * slots_at_once, all);
  left_ = (all + chunk_slots_ - 1) / chunk_slots_;
  done_.resize(left_);
}

void FirstPass::fill_tables(std::uint64_t number) {
  const std::uint64_t chunk = slots_.slot_index(number) / chunk_slots_;
  if (done_[chunk]) return;
  done_[chunk] = true;
  --left_;
  const std::uint64_t first = chunk * chunk_slots_;
  const std::uint64_t count = std::min(chunk_slots_, slots_.slots() - first);
  bool filled = fill_page_tables(slots_.headers(first), count * sizeof(SlotHeader));
  for (const std::size_t array : arrays_)
    filled = filled && fill_page_tables(slots_.slot(array, first), count * slots_.stride(array));
  if (!filled) left_ = 0;  // the kernel cannot: faults do it, page by page
}

}  // namespace brigade
