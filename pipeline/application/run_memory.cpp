#include "pipeline/application/run_memory.h"

#include <algorithm>
#include <utility>

#include <brigade/text.h>
#include "pipeline/records/shared_shape.h"

namespace brigade {

bool is_read_by_program(const Plan& plan, const PlanStage& stage) {
  return std::any_of(stage.readers.begin(), stage.readers.end(),
                     [&plan](const auto& reader) { return plan.stages[reader.first].is_output(); });
}

Result<std::unique_ptr<ProgramViews>> ProgramViews::create(const Plan& plan,
                                                           const SharedSegments& segments) {
  auto views = std::make_unique<ProgramViews>();
  for (const StageNumber s : plan.stages.numbers()) {
    const PlanStage& stage = plan.stages[s];
    SlotRing& ring = views->rings_.emplace_back();
    if (!is_read_by_program(plan, stage)) continue;
    const bool alone = stage.readers.size() == 1;
    const MapMode mode = alone ? MapMode::read_write : MapMode::read_only;
    BRIGADE_ASSIGN(ring, views->open(stage, segments.ring_fd(s, mode), alone));
  }
  return views;
}

Result<SlotRing> ProgramViews::open(const PlanStage& stage, int fd, bool writable) {
  const FilePart whole{fd, 0, stage.ring.bytes};
  auto memory = Mapping::of({&whole, 1}, writable ? MapMode::read_write : MapMode::read_only,
                            stage.ring.page_bytes());
  if (!memory) return memory.error().within(concat("the buffers of ", quote(stage.name)));
  memory->keep_out_of_dumps();
  View& view = views_.emplace_back(View{std::move(*memory), writable});
  std::byte* const data = view.memory.data();
  if (writable) view.in_children = std::make_unique<ReadOnlyInChildren>(data, view.memory.bytes());
  return SlotRing(data, stage.ring.slots, slot_arrays(stage.ring));
}

bool ProgramViews::writable(const std::byte* at) const {
  return std::all_of(views_.begin(), views_.end(), [at](const View& view) {
    const std::byte* const begin = view.memory.data();
    return view.writable || at < begin || at >= begin + view.memory.bytes();
  });
}

}  // namespace brigade
