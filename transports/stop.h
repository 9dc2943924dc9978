#pragma once

// The end of a run. An index space's end is a number, never a message: the
// supervisor sets it once the size is known, and a stop lowers it at most once:
//
//   ask_stop -> every source replica finishes its task, acknowledges and claims no more
//   all_acknowledged -> lower_end: the end moves to just past the highest claimed task, rounded up
//   to L
//
// after which the sources produce up to that end and the pipeline drains. Supervisor only,
// except for the end of a stream's data, which only its source knows. A derived index
// space follows its origin: what is set here for one is set for those derived from it.

#include <algorithm>
#include <cstdint>
#include <functional>

#include "transports/epochs.h"
#include "transports/repair.h"

namespace brigade {

/// Sets the length of an epoch: S and P.
template <class P>
void set_epoch(Control<P>& control, IndexSpaceNumber index_space, std::uint64_t samples,
               std::uint64_t period) {
  const auto set = [&](IndexSpaceWords<P>& words, std::uint64_t fan_out) {
    words.epoch_period.value.store(period * fan_out, std::memory_order_release);
    words.epoch_samples.value.store(samples * fan_out, std::memory_order_release);
  };
  control.for_each_derived(index_space, set);
  set(*control.index_spaces[index_space], 1);
}

/// Sets what the start barrier learned: samples per epoch and the end of the stream. Rings
/// everybody.
template <class P>
void set_end(Control<P>& control, IndexSpaceNumber index_space, std::uint64_t samples,
             std::uint64_t period, std::uint64_t epochs) {
  set_epoch(control, index_space, samples, period);
  const auto set = [&](IndexSpaceWords<P>& words, std::uint64_t fan_out) {
    const std::uint64_t length = period * fan_out;
    const bool too_far = length != 0 && epochs > kNever / length;
    std::uint64_t before = words.end.value.load(std::memory_order_seq_cst);
    while (before != 0 &&  // of an abort
           !words.end.value.compare_exchange_strong(before, too_far ? kNever : length * epochs,
                                                    std::memory_order_seq_cst)) {
    }
  };
  set(*control.index_spaces[index_space], 1);
  control.for_each_derived(index_space, set);
  ring_everybody(control);
}

/// By the source of an index space of unknown length: nothing follows beyond `number`, a multiple
/// of L (unless a stop has ended the index space before). Rings everybody.
template <class P>
void end_index_space(Control<P>& control, IndexSpaceNumber index_space, std::uint64_t number) {
  const auto set = [&](IndexSpaceWords<P>& words, std::uint64_t fan_out) {
    std::uint64_t unknown = kNever;
    words.end.value.compare_exchange_strong(unknown, number * fan_out, std::memory_order_seq_cst);
  };
  set(*control.index_spaces[index_space], 1);
  control.for_each_derived(index_space, set);
  ring_everybody(control);
}

/// By such a source: epoch `epoch` ends at `number`, a multiple of L. After the last epoch that is
/// the end of the index space. Rings everybody. May be called again with the same numbers, by a
/// source that was started again.
template <class P>
void end_epoch(Control<P>& control, IndexSpaceNumber index_space, std::uint64_t epoch,
               std::uint64_t number) {
  NumberList<P>& list = control.epoch_ends[index_space];
  list.record(epoch, number);
  if (epoch + 1 == list.capacity()) return end_index_space(control, index_space, number);
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
  for (IndexSpaceWords<P>* index_space : control.index_spaces) {
    auto none = static_cast<std::uint64_t>(Stop::none);
    index_space->stop.value.compare_exchange_strong(none, static_cast<std::uint64_t>(Stop::asked),
                                                    std::memory_order_seq_cst);
  }
  ring_everybody(control);
}

/// `gone(r)`: replica r of the graph has ended and been repaired and will not come back, or has
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
std::uint64_t claimed_up_to(Control<P>& control, StageNumber stage) {
  const QueueShape& shape = control.shape->stages[stage].queues[0];
  const QueueWords<P>& queue = control.stages[stage].queues[0];
  std::uint64_t highest = queue.watermark->level.value.load(std::memory_order_acquire);
  for (std::uint64_t entry = 0; !shape.in_order && entry < shape.window; ++entry) {
    const auto word =
        TaskWord::unpack(queue.table.lines()[entry].value.load(std::memory_order_acquire));
    if (word.state == TaskState::open || word.number < shape.window) continue;
    highest = std::max(highest, (word.number - shape.window + 1) * shape.task);
  }
  return highest;
}

/// After all_acknowledged(): the number past the last task that the sources of an index space have
/// claimed, a multiple of `multiple` (L). kNever for a derived index space, or one without sources.
template <class P>
std::uint64_t claimed_end(Control<P>& control, IndexSpaceNumber index_space,
                          std::uint64_t multiple) {
  for (const DerivedIndexSpace& derived : control.shape->derived)
    if (derived.index_space == index_space) return kNever;
  std::uint64_t highest = 0;
  bool sourced = false;
  const auto& stages = control.shape->stages;
  for (const StageNumber s : stages.numbers()) {
    const StageShape& stage = stages[s];
    if (!stage.source || stage.queues[0].index_space != index_space) continue;
    highest = std::max(highest, claimed_up_to(control, s));
    sourced = true;
  }
  return sourced ? (highest + multiple - 1) / multiple * multiple : kNever;
}

/// Lowers the end of one index space, to claimed_end() or above, and lets its sources go on up to
/// it.
template <class P>
void lower_end_to(Control<P>& control, IndexSpaceNumber index_space, std::uint64_t end) {
  if (end == kNever) return;
  const auto lower = [&](IndexSpaceWords<P>& words, std::uint64_t fan_out) {
    if (end * fan_out < words.end.value.load(std::memory_order_seq_cst)) {
      words.end.value.store(end * fan_out, std::memory_order_seq_cst);
    }
    words.stop.value.store(static_cast<std::uint64_t>(Stop::end_is_set), std::memory_order_seq_cst);
  };
  lower(*control.index_spaces[index_space], 1);
  control.for_each_derived(index_space, lower);
  ring_everybody(control);
}

template <class P>
void lower_end(Control<P>& control, IndexSpaceNumber index_space, std::uint64_t multiple) {
  lower_end_to(control, index_space, claimed_end(control, index_space, multiple));
}

/// By a replica of a stream with several, which has nothing more to give and has set its `ack`:
/// when all of them have, the data are over. Finds the end from what has been claimed, unless a
/// stop will do that. True: the end is set, and what is left up to it is padding. `multiple`: L of
/// the index space.
template <class P>
bool end_if_all_acknowledged(Control<P>& control, StageNumber stage, std::uint64_t multiple) {
  const StageShape& shape = control.shape->stages[stage];
  const IndexSpaceNumber index_space = shape.queues[0].index_space;
  for (int r = 0; r < shape.replicas; ++r) {
    const auto& ack = control.replicas[shape.first_replica + r].ack.value;
    if (ack.load(std::memory_order_seq_cst) == 0) return false;
  }
  auto none = static_cast<std::uint64_t>(Stop::none);
  const std::uint64_t claimed = claimed_up_to(control, stage);  // by nobody any more
  end_epoch(control, index_space, 0, (claimed + multiple - 1) / multiple * multiple);
  control.index_spaces[index_space]->stop.value.compare_exchange_strong(
      none, static_cast<std::uint64_t>(Stop::end_is_set), std::memory_order_seq_cst);
  ring_everybody(control);
  return true;
}

/// Ends every index space where it began, so that every try_claim() says `ended`, whatever is left.
/// For threads, which cannot be killed.
template <class P>
void abort_all(Control<P>& control) {
  // First: who finds an end that means nothing can tell (is_aborting).
  control.phase->value.store(static_cast<std::uint64_t>(Phase::aborting),
                             std::memory_order_seq_cst);
  for (IndexSpaceWords<P>* index_space : control.index_spaces) {
    index_space->end.value.store(0, std::memory_order_seq_cst);
    index_space->stop.value.store(static_cast<std::uint64_t>(Stop::end_is_set),
                                  std::memory_order_seq_cst);
  }
  ring_everybody(control);
}

}  // namespace brigade
