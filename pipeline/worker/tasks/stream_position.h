#pragma once

// The position of the source of an index space of unknown length,
// from shared memory: the epoch, and the number of its published
// samples. A restarted source continues to count from there.

#include <cstdint>

#include <brigade/result.h>
#include <brigade/text.h>
#include "pipeline/worker/tasks/replica_context.h"
#include "transports/slot_ring.h"

namespace brigade {

struct StreamPosition {
  std::uint32_t epoch = 0;
  std::uint64_t index = 0;  ///< of the next sample
  bool padding = false;     ///< the slot before it is padding, of the same epoch
};

/// Of a source with one replica: the slot before its watermark says it. That slot is still there,
/// since a ring is larger than one task. An error: somebody has written over it, so that the place
/// is lost.
inline Result<StreamPosition> stream_position(const ReplicaContext& context) {
  const std::uint64_t level = context.words().queues.front().watermark->level.value.load();
  const IndexSpaceNumber index_space = context.stage->queues.front().index_space;
  const NumberList<SystemPolicy>& ends = context.control->epoch_ends[index_space];
  StreamPosition place;
  if (level > context.resume->index_space(context.stage->queues.front().index_space).start) {
    const SlotHeader& last = *context.own_ring().headers(level - 1);
    if (last.number != level - 1) {
      return Error{concat("it cannot continue at its last position: the buffer of sample ",
                          level - 1, ", its last output, holds sample ", last.number,
                          "; a stage of this graph wrote outside its outputs")};
    }
    const bool padding = last.state == SlotState::pad;
    place = {last.epoch, last.index + (padding ? 0 : 1), padding};
  }
  while (ends.at(place.epoch) <= level) place = {place.epoch + 1, 0, false};
  return place;
}

/// Of one of several replicas of a stream: in its only epoch, as many samples as it has done
/// itself.
inline StreamPosition shared_stream_position(const ReplicaContext& context) {
  const Tally<SystemPolicy>& tally = context.words().queues.front().tallies[context.replica];
  return {0, tally.entries[tally.newest()].counts().samples_done, false};
}

}  // namespace brigade
