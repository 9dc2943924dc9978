#include "pipeline/plan/planner/buffer_budget.h"

#include <algorithm>

#include <brigade/text.h>
#include "base/arithmetic.h"

namespace brigade {
namespace {

std::uint64_t claimed(const RingUser& user) {
  return multiply_saturating(user.replicas, user.task);
}

/// "train (1 x 256)"
std::string user_text(const RingUser& user) {
  return concat(user.stage, " (", user.replicas, " x ", user.task, ")");
}

class Sum {
 public:
  explicit Sum(RingSlots& ring) : ring_(ring) {}

  void add(std::string what, std::uint64_t slots) {
    if (slots == 0) return;
    ring_.slots = add_saturating(ring_.slots, slots);
    ring_.terms.push_back({std::move(what), slots});
  }
  void raise_to(std::string what, std::uint64_t slots) {
    add(std::move(what), slots - std::min(slots, ring_.slots));
  }

 private:
  RingSlots& ring_;
};

std::uint64_t largest_task(const RingDemand& demand) {
  std::uint64_t largest = demand.writer.task;
  for (const RingUser& reader : demand.readers) largest = std::max(largest, reader.task);
  return largest;
}

void add_held(const RingDemand& demand, RingSlots& ring) {
  Sum sum(ring);
  sum.add(concat("being written by ", user_text(demand.writer)), claimed(demand.writer));
  const RingUser* queued = nullptr;
  for (const RingUser& reader : demand.readers) {
    sum.add(concat("being read by ", user_text(reader)), claimed(reader));
    if (queued == nullptr || reader.task > queued->task) queued = &reader;
  }
  if (queued != nullptr) sum.add(concat("queued for ", queued->stage), queued->task);
  if (demand.readers.size() > 1 && demand.way_to_zip > 0)
    sum.raise_to("for the longest path to a zip",
                 add_saturating(demand.writer.task, demand.way_to_zip));
}

void add_slack(const RingDemand& demand, RingSlots& ring) {
  Sum sum(ring);
  const std::uint64_t task_bytes = multiply_saturating(demand.writer.task, demand.slot_bytes);
  if (demand.writer.replicas > 1 && task_bytes <= kSlowTaskBytesMax)
    sum.add("ahead of a slow sample", claimed(demand.writer));
  const std::uint64_t busy =
      std::max(kRingSlotsBusy, multiply_saturating(kRingTasksBusy, largest_task(demand)));
  sum.raise_to("to work longer between wake-ups",
               std::min(busy, kRingBytesBusy / std::max<std::uint64_t>(demand.slot_bytes, 1)));
}

}  // namespace

RingSlots size_ring(const RingDemand& demand) {
  RingSlots ring;
  add_held(demand, ring);
  ring.held = ring.slots;
  if (demand.buffers == 0) {
    add_slack(demand, ring);
  } else {
    const std::uint64_t asked = multiply_saturating(demand.buffers, largest_task(demand));
    ring.buffers_raised = asked < ring.held;
    Sum(ring).raise_to(concat("requested by buffers: ", demand.buffers), asked);
  }

  ring.multiple = demand.writer.task;
  for (const RingUser& reader : demand.readers)
    ring.multiple = lcm_saturating(ring.multiple, reader.task);
  Sum(ring).raise_to(concat("rounded up to a multiple of ", ring.multiple),
                     round_up(ring.slots, ring.multiple));
  return ring;
}

}  // namespace brigade
