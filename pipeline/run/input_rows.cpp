#include "pipeline/run/input_rows.h"

namespace brigade {

InputRows::InputRows(const ReplicaContext& context) {
  const PlanStage& stage = *context.stage;
  for (const PlanLane& lane : stage.lanes)
    readers.emplace_back(*context.plan, stage, lane, context.pools);
  if (stage.has_pool) {
    writer.emplace(*context.plan, stage, context.pools,
                   static_cast<std::size_t>(context.stage_index));
  }
}

RecordReader& InputRows::begin(int lane, std::uint64_t first) {
  RecordReader& reader = readers[static_cast<std::size_t>(lane)];
  reader.begin(first);
  if (writer) writer->begin(first);
  return reader;
}

}  // namespace brigade
