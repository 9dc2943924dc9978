#pragma once

// Ends. A domain's end is a number, never a message: the supervisor sets it once the size is known,
// and a stop lowers it at most once:
//
//   ask_stop -> every source replica finishes its task, acknowledges and claims no more
//   all_acknowledged -> lower_end: the end moves to just past the highest claimed task, rounded up
//   to L
//
// after which the sources produce up to that end and the line runs dry. Supervisor only, but for
// the end of a stream's data, which nobody else can know.

#include <algorithm>
#include <cstdint>
#include <functional>

#include "transports/repair.h"

namespace brigade {

/// Sets what the start barrier learned: samples per epoch and the end of the stream. Rings
/// everybody.
template <class P>
void set_end(Control<P>& control, int domain, std::uint64_t samples, std::uint64_t period,
             std::uint64_t epochs) {
  DomainWords<P>& words = *control.domains[static_cast<std::size_t>(domain)];
  words.epoch_period.value.store(period, std::memory_order_release);
  words.epoch_samples.value.store(samples, std::memory_order_release);
  const bool too_far = period != 0 && epochs > kNever / period;
  words.end.value.store(too_far ? kNever : period * epochs, std::memory_order_seq_cst);
  ring_everybody(control);
}

/// Of a source of unknown length with one replica, by that replica: its data are over, and its
/// domain ends at `end`, a multiple of L (unless a stop has ended it before). Rings everybody.
template <class P>
void set_end_of_data(Control<P>& control, int domain, std::uint64_t samples, std::uint64_t end) {
  DomainWords<P>& words = *control.domains[static_cast<std::size_t>(domain)];
  words.epoch_samples.value.store(samples, std::memory_order_release);
  words.epoch_period.value.store(end, std::memory_order_release);
  std::uint64_t unknown = kNever;
  words.end.value.compare_exchange_strong(unknown, end, std::memory_order_seq_cst);
  ring_everybody(control);
}

/// Lets consumers start, unless the graph is being aborted already. Rings everybody.
template <class P>
void begin_running(Control<P>& control) {
  auto starting = static_cast<std::uint64_t>(Phase::starting);
  control.phase->value.compare_exchange_strong(starting, static_cast<std::uint64_t>(Phase::running),
                                               std::memory_order_seq_cst);
  ring_everybody(control);
}

template <class P>
void ask_stop(Control<P>& control) {
  for (DomainWords<P>* domain : control.domains) {
    domain->stop.value.store(static_cast<std::uint64_t>(Stop::asked), std::memory_order_seq_cst);
  }
  ring_everybody(control);
}

/// `gone(r)`: replica r of the graph has been reaped and repaired and will not come back, or has
/// ended.
template <class P>
bool all_acknowledged(Control<P>& control, const std::function<bool(int)>& gone) {
  for (const StageShape& stage : control.shape->stages) {
    for (int r = 0; stage.source && r < stage.replicas; ++r) {
      const int replica = stage.first_replica + r;
      const bool acknowledged =
          control.replicas[replica].ack.value.load(std::memory_order_seq_cst) != 0;
      if (!acknowledged && !gone(replica)) return false;
    }
  }
  return true;
}

/// One past the highest sample that a replica of this source stage has claimed so far.
template <class P>
std::uint64_t claimed_up_to(Control<P>& control, int stage) {
  const LaneShape& shape = control.shape->stages[static_cast<std::size_t>(stage)].lanes[0];
  const LaneWords<P>& lane = control.stages[static_cast<std::size_t>(stage)].lanes[0];
  std::uint64_t highest = lane.mark->low.value.load(std::memory_order_acquire);
  for (std::uint64_t slot = 0; !shape.in_order && slot < shape.window; ++slot) {
    const auto word =
        TaskWord::unpack(lane.table.lines()[slot].value.load(std::memory_order_acquire));
    if (word.state == TaskState::open || word.number < shape.window) continue;
    highest = std::max(highest, (word.number - shape.window + 1) * shape.task);
  }
  return highest;
}

/// After all_acknowledged(): lowers the end of one domain and lets its sources go on up to it.
/// `multiple`: L of the domain.
template <class P>
void lower_end(Control<P>& control, int domain, std::uint64_t multiple) {
  std::uint64_t highest = 0;
  const auto& stages = control.shape->stages;
  for (int s = 0; s < static_cast<int>(stages.size()); ++s) {
    const StageShape& stage = stages[static_cast<std::size_t>(s)];
    if (!stage.source || stage.lanes[0].domain != domain) continue;
    highest = std::max(highest, claimed_up_to(control, s));
  }
  DomainWords<P>& words = *control.domains[static_cast<std::size_t>(domain)];
  const std::uint64_t end = (highest + multiple - 1) / multiple * multiple;
  if (end < words.end.value.load(std::memory_order_seq_cst)) {
    words.end.value.store(end, std::memory_order_seq_cst);
  }
  words.stop.value.store(static_cast<std::uint64_t>(Stop::end_is_set), std::memory_order_seq_cst);
  ring_everybody(control);
}

/// Makes every try_claim() say `ended`, whatever is left. For threads, which cannot be killed.
template <class P>
void abort_all(Control<P>& control) {
  control.phase->value.store(static_cast<std::uint64_t>(Phase::aborting),
                             std::memory_order_release);
  for (StageWords<P>& stage : control.stages) {
    stage.repairs->value.fetch_add(1,
                                   std::memory_order_acq_rel);  // makes replicas look at the phase
  }
  ring_everybody(control);
}

}  // namespace brigade
