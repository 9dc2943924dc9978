#include "pipeline/memory/prefault.h"

#include <sched.h>

#include <algorithm>
#include <system_error>

#include <brigade/text.h>
#include "pipeline/plan/caches.h"
#include "pipeline/plan/planner/memory_budget.h"
#include "transports/limits.h"

namespace brigade {
namespace {

// Small, since the supervisor's mappings stand still while a chunk is populated.
constexpr std::uint64_t kChunkBytes = 512 << 10;
constexpr int kTouchersMax = 2;  // the workers are starting at the same time

struct Array {
  std::uint64_t offset;
  std::uint64_t stride;
};

// All but the ragged ones of a sparse ring, and those that are not in it.
std::vector<Array> filled_arrays(const PlanRing& ring) {
  std::vector<Array> arrays = {{0, kSlotHeaderBytes}};
  for (const PlanTensor& tensor : ring.tensors) {
    if (!tensor.type.on_device && (!ring.sparse || !tensor.type.ragged()))
      arrays.push_back({tensor.offset, tensor.slot_stride});
  }
  return arrays;
}

}  // namespace

std::vector<PageRange> fill_order(const PlanRing& ring, std::uint64_t chunk_bytes) {
  const std::vector<Array> arrays = filled_arrays(ring);
  std::uint64_t slot_bytes = 0;
  for (const Array& array : arrays) slot_bytes += array.stride;
  const std::uint64_t slots_at_once = std::max<std::uint64_t>(chunk_bytes / slot_bytes, 1);

  std::vector<PageRange> order;
  std::vector<std::uint64_t> done;  // of each array: the end of its last range
  for (const Array& array : arrays) done.push_back(array.offset);
  for (std::uint64_t slot = 0; slot < ring.slots; slot += slots_at_once) {
    const std::uint64_t end_slot = std::min(slot + slots_at_once, ring.slots);
    for (std::size_t a = 0; a < arrays.size(); ++a) {
      const std::uint64_t end = arrays[a].offset + end_slot * arrays[a].stride;
      const std::uint64_t last = (end + kPageBytes - 1) / kPageBytes * kPageBytes;
      if (last <= done[a]) continue;
      order.push_back({done[a], last});
      done[a] = last;
    }
  }
  return order;
}

Prefault::Prefault(const Plan& plan, const SharedSegments& segments,
                   std::function<void(std::string)> failed)
    : plan_(plan), segments_(segments), failed_(std::move(failed)) {
  const auto rings = std::count_if(plan.stages.begin(), plan.stages.end(),
                                   [](const PlanStage& stage) { return stage.has_ring; });
  for (int t = 0; t < std::min<int>(kTouchersMax, static_cast<int>(rings)); ++t) {
    try {
      threads_.emplace_back([this] { run(); });
    } catch (const std::system_error&) {
      break;  // pages come when they are touched
    }
  }
}

Prefault::~Prefault() {
  over_ = true;
  for (std::thread& thread : threads_) thread.join();
}

void Prefault::run() {
  // Only where the workers leave time: the first batch would wait for memory of later ones.
  const sched_param none{};
  (void)sched_setscheduler(0, SCHED_IDLE, &none);  // of this thread; it works without, too
  const int stages = static_cast<int>(plan_.stages.size());
  for (int next = next_stage_++; next < 2 * stages; next = next_stage_++) {
    const bool is_ring = next < stages;
    if (is_ring ? !fill_ring(StageNumber(next)) : !fill_cache(StageNumber(next - stages))) return;
  }
}

bool Prefault::fill_ring(StageNumber stage) {
  const PlanStage& planned = plan_.stages[stage];
  if (!planned.has_ring) return true;
  const std::vector<PageRange> order = fill_order(planned.ring, kChunkBytes);
  return std::all_of(order.begin(), order.end(), [&](const PageRange& range) {
    return fill(stage, range, concat("the buffers of ", edge_text(plan_, planned)));
  });
}

// It lies behind the ring, and will be written from one end to the other.
bool Prefault::fill_cache(StageNumber stage) {
  const PlanStage& planned = plan_.stages[stage];
  if (!planned.is_cache() || planned.cache.sparse) return true;
  if (!cache_file(planned).empty()) return true;  // the disk has given it already
  const std::uint64_t end = planned.segment_bytes();
  for (std::uint64_t at = planned.ring.bytes; at < end; at += kChunkBytes) {
    if (!fill(stage, {at, std::min(at + kChunkBytes, end)},
              concat("the memory of cache ", planned.name)))
      return false;
  }
  return true;
}

bool Prefault::fill(StageNumber stage, const PageRange& range, const std::string& what) {
  if (over_) return false;
  const std::uint64_t bytes = range.last - range.first;
  auto filled = populate(segments_.ring_data(stage) + range.first, bytes,
                         segments_.ring_fd(stage, MapMode::read_write), range.first);
  if (!filled) {
    if (!over_.exchange(true)) failed_(concat(what, ": ", filled.error().message));
    return false;
  }
  filled_ += bytes;
  return true;
}

}  // namespace brigade
