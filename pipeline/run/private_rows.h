#pragma once

// Rows that a stage writes before it is known where they go: in private memory, laid out as its
// pool is. A stream with several replicas has its next sample there before it claims a task; a
// stage that numbers its outputs freely writes its outputs there, and each is copied to the pool
// when there is room. So nobody holds shared memory while waiting.
//
// One replica's; one thread. Reserves everything when it is made.

#include <cstdint>
#include <vector>

#include "pipeline/run/record_codec.h"

namespace brigade {

class PrivateRows {
 public:
  /// The rows of one call: `stage.fan_out` of them, of which lane 0 is the input (if there is one).
  /// `pools`: by stage.
  PrivateRows(const Plan& plan, const PlanStage& stage, std::span<const RowPool> pools,
              std::size_t stage_index);
  PrivateRows(const PrivateRows&) = delete;
  PrivateRows& operator=(const PrivateRows&) = delete;

  /// Writes to them; row 0 is the call's.
  RecordWriter& writer() { return writer_; }

  /// Row `row`, as it was written, becomes row `number` of the stage's pool. The header is the
  /// caller's.
  void copy_to_pool(std::uint64_t row, std::uint64_t number) const;

 private:
  std::vector<RowPool> with_own_pool(const PlanStage& stage, std::span<const RowPool> pools,
                                     std::size_t stage_index);

  const PlanPool* planned_;
  RowPool pool_;  // the stage's
  std::uint64_t rows_;
  std::vector<std::byte> memory_;
  std::vector<RowPool> pools_;  // the others', and the private one in the stage's place
  const RowPool* own_;
  RecordWriter writer_;
};

}  // namespace brigade
