#include "pipeline/worker/tasks/slot_io.h"

namespace brigade {

SlotIo::SlotIo(const ReplicaContext& context) {
  const PlanStage& stage = *context.stage;
  for (const QueueNumber l : stage.queues.numbers()) {
    const PlanQueue& queue = stage.queues[l];
    const bool begins_with_empty_slots =
        context.resumed(l).at > context.resume->index_space(queue.index_space).start;
    readers.emplace_back(*context.plan, stage, queue, *context.rings,
                         stage.empty_slots_possible || begins_with_empty_slots);
  }
  if (stage.has_ring) {
    writer.emplace(*context.plan, stage, *context.rings, context.stage_index);
  }
  if (context.device == nullptr) return;
  for (RecordReader& reader : readers) reader.set_device_stream(context.device->stream());
  if (writer) writer->set_device_stream(context.device->stream());
}

RecordReader& SlotIo::begin(QueueNumber queue, std::uint64_t first) {
  RecordReader& reader = readers[queue];
  reader.begin(first);
  if (writer) writer->begin(first);
  return reader;
}

}  // namespace brigade
