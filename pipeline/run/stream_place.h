#pragma once

// Where the source of a domain of unknown length stands, from what is in shared memory: the epoch,
// and how many samples of it are published. So a source that was started again goes on counting.

#include <cstdint>

#include "base/result.h"
#include "base/text.h"
#include "pipeline/run/replica_context.h"
#include "transports/row_pool.h"

namespace brigade {

struct StreamPlace {
  std::uint32_t epoch = 0;
  std::uint64_t index = 0;  ///< of the next sample
  bool padding = false;     ///< the row before it is padding, of the same epoch
};

/// Of a source with one replica: the row before its mark says it. That row is still there, since a
/// ring is larger than one task. An error: somebody has written over it, so that the place is lost.
inline Result<StreamPlace> stream_place(const ReplicaContext& context) {
  const std::uint64_t low = context.words().lanes.front().mark->low.value.load();
  const auto domain = static_cast<std::size_t>(context.stage->lanes.front().domain);
  const NumberList<SystemPolicy>& ends = context.control->epoch_ends[domain];
  StreamPlace place;
  if (low > context.plan->domains[domain].start) {
    const RowHeader& last =
        *context.pools[static_cast<std::size_t>(context.stage_index)].headers(low - 1);
    if (last.number != low - 1) {
      return Error{concat("it cannot go on where it was: the buffer of sample ", low - 1,
                          ", which it gave last, says that it holds sample ", last.number,
                          "; a stage of this graph has written outside its outputs")};
    }
    const bool padding = last.state == RowState::pad;
    place = {last.epoch, last.index + (padding ? 0 : 1), padding};
  }
  while (ends.at(place.epoch) <= low) place = {place.epoch + 1, 0, false};
  return place;
}

/// Of one of several replicas of a stream: in its only epoch, as many samples as it has done
/// itself.
inline StreamPlace shared_stream_place(const ReplicaContext& context) {
  const Tally<SystemPolicy>& tally = context.words().lanes.front().tallies[context.replica];
  return {0, tally.entries[tally.newest()].counts().samples_done, false};
}

}  // namespace brigade
