#pragma once

// Ends. A domain's end is a number, never a message: the supervisor sets it once the size is known,
// and a stop lowers it at most once:
//
//   ask_stop -> every source replica finishes its task, acknowledges and claims no more
//   all_acknowledged -> lower_end: the end moves to just past the highest claimed task, rounded up
//   to L
//
// after which the sources produce up to that end and the line runs dry. Supervisor only, but for
// the end of a stream's data, which nobody else can know. A domain that is derived from another
// follows it: whatever is set here for one is set for those derived from it.

#include <algorithm>
#include <cstdint>
#include <functional>

#include "transports/epochs.h"
#include "transports/repair.h"

namespace brigade {

/// Sets the length of an epoch: S and P.
template <class P>
void set_epoch(Control<P>& control, int domain, std::uint64_t samples, std::uint64_t period) {
  const auto set = [&](DomainWords<P>& words, std::uint64_t fan_out) {
    words.epoch_period.value.store(period * fan_out, std::memory_order_release);
    words.epoch_samples.value.store(samples * fan_out, std::memory_order_release);
  };
  control.for_each_derived(domain, set);
  set(*control.domains[static_cast<std::size_t>(domain)], 1);
}

/// Sets what the start barrier learned: samples per epoch and the end of the stream. Rings
/// everybody.
template <class P>
void set_end(Control<P>& control, int domain, std::uint64_t samples, std::uint64_t period,
             std::uint64_t epochs) {
  set_epoch(control, domain, samples, period);
  const auto set = [&](DomainWords<P>& words, std::uint64_t fan_out) {
    const std::uint64_t length = period * fan_out;
    const bool too_far = length != 0 && epochs > kNever / length;
    std::uint64_t before = words.end.value.load(std::memory_order_seq_cst);
    while (before != 0 &&  // of an abort
           !words.end.value.compare_exchange_strong(before, too_far ? kNever : length * epochs,
                                                    std::memory_order_seq_cst)) {
    }
  };
  set(*control.domains[static_cast<std::size_t>(domain)], 1);
  control.for_each_derived(domain, set);
  ring_everybody(control);
}

/// By the source of a domain of unknown length: nothing follows beyond `number`, a multiple of L
/// (unless a stop has ended the domain before). Rings everybody.
template <class P>
void end_domain(Control<P>& control, int domain, std::uint64_t number) {
  const auto set = [&](DomainWords<P>& words, std::uint64_t fan_out) {
    std::uint64_t unknown = kNever;
    words.end.value.compare_exchange_strong(unknown, number * fan_out, std::memory_order_seq_cst);
  };
  set(*control.domains[static_cast<std::size_t>(domain)], 1);
  control.for_each_derived(domain, set);
  ring_everybody(control);
}

/// By such a source: epoch `epoch` ends at `number`, a multiple of L. After the last epoch that is
/// the end of the domain. Rings everybody. May be called again with the same numbers, by a source
/// that was started again.
template <class P>
void end_epoch(Control<P>& control, int domain, std::uint64_t epoch, std::uint64_t number) {
  NumberList<P>& list = control.epoch_ends[static_cast<std::size_t>(domain)];
  list.record(epoch, number);
  if (epoch + 1 == list.capacity()) return end_domain(control, domain, number);
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
    auto none = static_cast<std::uint64_t>(Stop::none);
    domain->stop.value.compare_exchange_strong(none, static_cast<std::uint64_t>(Stop::asked),
                                               std::memory_order_seq_cst);
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

/// After all_acknowledged(): the number past the last task that the sources of a domain have
/// claimed, a multiple of `multiple` (L). kNever for a derived domain, or one without sources.
template <class P>
std::uint64_t claimed_end(Control<P>& control, int domain, std::uint64_t multiple) {
  for (const DerivedDomain& derived : control.shape->derived)
    if (derived.domain == domain) return kNever;
  std::uint64_t highest = 0;
  bool sourced = false;
  const auto& stages = control.shape->stages;
  for (int s = 0; s < static_cast<int>(stages.size()); ++s) {
    const StageShape& stage = stages[static_cast<std::size_t>(s)];
    if (!stage.source || stage.lanes[0].domain != domain) continue;
    highest = std::max(highest, claimed_up_to(control, s));
    sourced = true;
  }
  return sourced ? (highest + multiple - 1) / multiple * multiple : kNever;
}

/// Lowers the end of one domain, to claimed_end() or above, and lets its sources go on up to it.
template <class P>
void lower_end_to(Control<P>& control, int domain, std::uint64_t end) {
  if (end == kNever) return;
  const auto lower = [&](DomainWords<P>& words, std::uint64_t fan_out) {
    if (end * fan_out < words.end.value.load(std::memory_order_seq_cst)) {
      words.end.value.store(end * fan_out, std::memory_order_seq_cst);
    }
    words.stop.value.store(static_cast<std::uint64_t>(Stop::end_is_set), std::memory_order_seq_cst);
  };
  lower(*control.domains[static_cast<std::size_t>(domain)], 1);
  control.for_each_derived(domain, lower);
  ring_everybody(control);
}

template <class P>
void lower_end(Control<P>& control, int domain, std::uint64_t multiple) {
  lower_end_to(control, domain, claimed_end(control, domain, multiple));
}

/// By a replica of a stream with several, which has nothing more to give and has set its `ack`:
/// when all of them have, the data are over. Finds the end from what has been claimed, unless a
/// stop will do that. True: the end is set, and what is left up to it is padding. `multiple`: L of
/// the domain.
template <class P>
bool end_if_all_acknowledged(Control<P>& control, int stage, std::uint64_t multiple) {
  const StageShape& shape = control.shape->stages[static_cast<std::size_t>(stage)];
  const int domain = shape.lanes[0].domain;
  for (int r = 0; r < shape.replicas; ++r) {
    const auto& ack = control.replicas[shape.first_replica + r].ack.value;
    if (ack.load(std::memory_order_seq_cst) == 0) return false;
  }
  auto none = static_cast<std::uint64_t>(Stop::none);
  const std::uint64_t claimed = claimed_up_to(control, stage);  // by nobody any more
  end_epoch(control, domain, 0, (claimed + multiple - 1) / multiple * multiple);
  control.domains[static_cast<std::size_t>(domain)]->stop.value.compare_exchange_strong(
      none, static_cast<std::uint64_t>(Stop::end_is_set), std::memory_order_seq_cst);
  ring_everybody(control);
  return true;
}

/// Ends every domain where it began, so that every try_claim() says `ended`, whatever is left. For
/// threads, which cannot be killed.
template <class P>
void abort_all(Control<P>& control) {
  // First: who finds an end that means nothing can tell (is_aborting).
  control.phase->value.store(static_cast<std::uint64_t>(Phase::aborting),
                             std::memory_order_seq_cst);
  for (DomainWords<P>* domain : control.domains) {
    domain->end.value.store(0, std::memory_order_seq_cst);
    domain->stop.value.store(static_cast<std::uint64_t>(Stop::end_is_set),
                             std::memory_order_seq_cst);
  }
  ring_everybody(control);
}

}  // namespace brigade
