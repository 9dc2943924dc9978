#pragma once

// A watermark that a task queue depends on, as last seen by one replica: an input's, for filled
// slots, or a reader's, for slots of an earlier round that it has finished with. Process-private.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "transports/attempt.h"
#include "transports/layout.h"
#include "transports/task_table.h"

namespace brigade {

template <class P>
struct Neighbour {
  Watermark<P>* watermark = nullptr;
  std::uint64_t scale =
      1;  ///< of the watermark: an input's fan-out; readers' watermarks count slots already
  std::uint64_t offset = 0;  ///< added to it: 0 for an input, M for a reader
  std::uint64_t reached =
      0;  ///< cached; a watermark only grows, so an old value is merely pessimistic
  std::uint64_t task = 0;  ///< of an input with task words: slots of a task; 0: it has none
  TaskTable<P> table = {};
  bool is_program = false;  ///< of a reader: it may take what is DONE, beyond the watermark

  /// Whether it has come to slot `last`.
  bool has(std::uint64_t last) {
    if (reached >= last) return true;
    // Pairs with the CAS (or store) of the neighbour's watermark: its slots are visible, its reads
    // over.
    reached = watermark->level.value.load(std::memory_order_seq_cst) * scale + offset;
    return reached >= last;
  }

  /// Whether it has come to slot `last`, or the tasks of slots first .. last - 1 are all DONE: they
  /// stay so until the watermark of this reader has passed them.
  bool has_done(std::uint64_t first, std::uint64_t last) {
    if (has(last)) return true;
    if (task == 0) return false;
    for (std::uint64_t t = first / task; t * task < last; ++t) {
      // Pairs with the exchange of finish(), as the load of advance() does: its slots are visible.
      if (table.read(table.word(t).load(std::memory_order_seq_cst), t).state != TaskState::done)
        return false;
    }
    return true;
  }

  /// It has not: what to wait for.
  Attempt<P> blocks(std::uint64_t last, Cause cause) const {
    return {Look::blocked, 0, watermark, cause, (last - offset + scale - 1) / scale};
  }
};

/// The rings that a task queue reads.
template <class P>
std::vector<Neighbour<P>> neighbours_above(Control<P>& control, const QueueShape& queue) {
  std::vector<Neighbour<P>> inputs;
  for (const StageNumber stage : queue.inputs) {
    const StageShape& shape = control.shape->stages[stage];
    const QueueShape& writes = shape.queues[0];
    const QueueWords<P>& words = control.stages[stage].queues[0];
    inputs.push_back({words.watermark, shape.fan_out, 0, 0,
                      writes.in_order ? 0 : writes.task * shape.fan_out, words.table});
  }
  return inputs;
}

/// Who reads the ring of a stage.
template <class P>
std::vector<Neighbour<P>> neighbours_below(Control<P>& control, StageNumber stage) {
  const ByStage<StageShape>& stages = control.shape->stages;
  std::vector<Neighbour<P>> readers;
  for (const StageNumber s : stages.numbers()) {
    const StageShape& reader = stages[s];
    for (const QueueNumber l : reader.queues.numbers())
      for (const StageNumber input : reader.queues[l].inputs)
        if (input == stage) {
          readers.push_back({control.stages[s].queues[l].watermark, 1, stages[stage].slots, 0});
          readers.back().is_program = reader.application;
        }
  }
  return readers;
}

/// Whether one of them may sleep until anything is DONE.
template <class P>
bool have_program(const std::vector<Neighbour<P>>& readers) {
  return std::any_of(readers.begin(), readers.end(),
                     [](const Neighbour<P>& reader) { return reader.is_program; });
}

/// The lowest task from `cursor` on, below `beyond`, that nobody has claimed and whose inputs are
/// all DONE; kNever: there is none. `cursor` goes on to the lowest that nobody has claimed.
template <class P>
std::uint64_t find_done(const TaskTable<P>& table, std::vector<Neighbour<P>>& inputs,
                        std::uint64_t size, std::uint64_t beyond, std::uint64_t& cursor) {
  for (std::uint64_t task = cursor; task < beyond; ++task) {
    const auto seen = table.read(table.word(task).load(std::memory_order_acquire), task);
    if (seen.state != TaskState::open) {
      if (task == cursor) ++cursor;
      continue;
    }
    const auto done = [&](Neighbour<P>& input) {
      return input.has_done(task * size, (task + 1) * size);
    };
    if (std::all_of(inputs.begin(), inputs.end(), done)) return task;
  }
  return kNever;
}

/// What a replica has claimed by find_done() is DONE above; whoever stored that may not have moved
/// the watermark there yet. It must not fall behind that of the reader, which lets the words be
/// used for later tasks.
template <class P>
void bring_along(const std::vector<Neighbour<P>>& inputs, const Waker<P>& waker) {
  for (const Neighbour<P>& input : inputs) {
    if (input.task == 0) continue;
    const Advanced moved = advance(*input.watermark, input.table, input.task / input.scale);
    if (moved.from != moved.to) waker.moved(input.watermark->waiters, moved.to);
  }
}

}  // namespace brigade
