#include "pipeline/memory/shared_segments.h"

#include <utility>

#include <brigade/text.h>
#include "base/io.h"
#include "pipeline/plan/caches.h"
#include "pipeline/plan/plan_json.h"
#include "pipeline/plan/planner/memory_budget.h"
#include "pipeline/records/shared_shape.h"
#include "stages/detail/cache_file.h"

namespace brigade {
namespace {

constexpr std::uint64_t kPlanBytesMax = 64 << 20;  // of a graph that somebody else runs, too

SlotRing window(const PlanStage& stage, std::byte* memory) {
  if (memory == nullptr) return {};
  return SlotRing(memory, stage.ring.slots, slot_arrays(stage.ring));
}

/// Before the first claim: a worker beyond the barriers would not see who sleeps.
Result<void> join_barriers(const Control<SystemPolicy>& control) {
  if (control.wake_order == WakeOrder::by_finisher || SystemPolicy::join_barriers()) return {};
  return Error{
      concat("this run wakes workers with membarrier(2), which its supervisor may call but ",
             "this worker may not (", errno_text(),
             "); allow it for both in the system call filter (seccomp)")};
}

/// The ring of a cache and, behind it, the file with what it keeps.
Result<Mapping> map_with_cache(const PlanStage& stage, int fd, int cache_fd) {
  const FilePart parts[] = {{fd, 0, stage.ring.bytes},
                            {cache_fd, kCacheHeaderBytes, stage.cache.bytes}};
  return map_memory(parts, MapMode::read_write);
}

}  // namespace

Result<std::unique_ptr<SharedSegments>> SharedSegments::create(const Plan& plan,
                                                               const ResumePoint& resume,
                                                               const ByStage<int>& cache_fds) {
  std::unique_ptr<SharedSegments> segments(new SharedSegments(plan));
  auto plan_file = MemoryFile::create_holding("brigade-plan", run_to_json(plan, resume));
  if (!plan_file) return plan_file.error().within("the plan");
  segments->plan_file_ = std::move(*plan_file);
  if (auto made = segments->create_control_segment(resume); !made) {
    return made.error().within("the control segment");
  }
  for (const PlanStage& stage : plan.stages) {
    const StageNumber s = plan.stages.number_of(stage);
    auto made = segments->create_ring(stage, cache_fds.has(s) ? cache_fds[s] : -1);
    if (!made) return made.error().within(concat("the buffers of ", edge_text(plan, stage)));
  }
  return segments;
}

Result<void> SharedSegments::create_control_segment(const ResumePoint& resume) {
  shape_ = shared_shape(plan_, resume);
  const std::uint64_t bytes = control_bytes<SystemPolicy>(shape_);
  BRIGADE_ASSIGN(control_file_, MemoryFile::create("brigade-control", bytes));
  BRIGADE_ASSIGN(control_memory_, map_memory(control_file_.fd(), bytes, MapMode::read_write));
  BRIGADE_TRY(populate(control_memory_.data(), bytes, control_file_.fd(), 0));
  control_ = create_control<SystemPolicy>(control_memory_.data(), shape_,
                                          choose_wake_order<SystemPolicy>(shape_));
  begin_at(plan_, resume, control_);
  return {};
}

Result<void> SharedSegments::create_ring(const PlanStage& stage, int cache_fd) {
  Ring& ring = rings_.emplace_back();
  if (!stage.has_ring) return {};
  const std::uint64_t bytes = memory_segment_bytes(stage);
  const std::uint64_t page_bytes = stage.ring.page_bytes();
  BRIGADE_ASSIGN(ring.file, MemoryFile::create("brigade-ring-" + stage.name, bytes, page_bytes));
  if (!stage.readers.empty()) BRIGADE_TRY(ring.file.open_read_only());
  if (bytes == stage.segment_bytes()) {
    BRIGADE_ASSIGN(ring.memory, map_memory(ring.file.fd(), bytes, MapMode::read_write, page_bytes));
    return {};
  }
  if (cache_fd < 0) return Error{concat(cache_file(stage), " is not open")};
  ring.cache_fd = cache_fd;
  BRIGADE_ASSIGN(ring.memory, map_with_cache(stage, ring.file.fd(), cache_fd));
  return {};
}

int SharedSegments::cache_fd(StageNumber stage) const { return rings_[stage].cache_fd; }

std::vector<SharedGrant> SharedSegments::shared_grants(const PlanStage& stage) const {
  std::vector<SharedGrant> grants;
  if (shared_ == nullptr) return grants;
  for (const int tensor : shared_tensors_of(plan_, stage)) grants.push_back(shared_->grant(tensor));
  return grants;
}

std::vector<DeviceGrant> SharedSegments::device_grants(const PlanStage& stage) const {
  std::vector<DeviceGrant> grants;
  const auto add = [&](StageNumber s, bool writable) {
    if (device_fds_.has(s) && device_fds_[s].get() >= 0)
      grants.push_back({s, device_fds_[s].get(), writable});
  };
  add(plan_.stages.number_of(stage), true);
  for (const PlanQueue& queue : stage.queues)
    for (const PlanInput& input : queue.inputs) add(input.stage, false);
  return grants;
}

int SharedSegments::ring_fd(StageNumber stage, MapMode mode) const {
  const MemoryFile& file = rings_[stage].file;
  return mode == MapMode::read_only ? file.read_only_fd() : file.fd();
}

std::byte* SharedSegments::ring_data(StageNumber stage) const {
  return rings_[stage].memory.data();
}

ByStage<SlotRing> SharedSegments::slot_rings() const {
  ByStage<SlotRing> windows;
  for (const StageNumber s : rings_.numbers()) {
    windows.push_back(window(plan_.stages[s], rings_[s].memory.data()));
  }
  return windows;
}

Result<std::unique_ptr<AttachedSegments>> AttachedSegments::attach(
    OwnedFd control, OwnedFd plan, std::span<const RingGrant> rings) {
  BRIGADE_ASSIGN(std::unique_ptr<AttachedSegments> segments, read(std::move(plan)));
  BRIGADE_TRY(segments->attach_control_segment(std::move(control), MapMode::read_write));
  BRIGADE_TRY(join_barriers(segments->control_));
  for (const RingGrant& grant : rings) BRIGADE_TRY(segments->attach_ring(grant));
  return segments;
}

Result<std::unique_ptr<AttachedSegments>> AttachedSegments::look_into(OwnedFd control,
                                                                      OwnedFd plan) {
  BRIGADE_ASSIGN(std::unique_ptr<AttachedSegments> segments, read(std::move(plan)));
  BRIGADE_TRY(segments->attach_control_segment(std::move(control), MapMode::read_only));
  return segments;
}

AttachedSegments::AttachedSegments(PlannedRun run)
    : run_(std::move(run)),
      shape_(shared_shape(run_.plan, run_.resume)),
      rings_(run_.plan.stages.size()) {}

Result<std::unique_ptr<AttachedSegments>> AttachedSegments::read(OwnedFd plan) {
  auto text = read_memory(plan.get(), kPlanBytesMax);
  if (!text) return text.error().within("the plan");
  BRIGADE_ASSIGN(PlannedRun run, run_from_json(*text));
  return std::unique_ptr<AttachedSegments>(new AttachedSegments(std::move(run)));
}

Result<void> AttachedSegments::attach_control_segment(OwnedFd fd, MapMode mode) {
  BRIGADE_ASSIGN(const std::uint64_t bytes, memory_bytes(fd.get()));
  BRIGADE_ASSIGN(control_memory_, map_memory(fd.get(), bytes, mode));
  BRIGADE_ASSIGN(control_, attach_control<SystemPolicy>(control_memory_.data(), bytes, shape_));
  return {};
}

Result<void> AttachedSegments::attach_ring(const RingGrant& grant) {
  const OwnedFd fd(grant.fd);  // closed once they are mapped, or refused
  const OwnedFd cache_fd(grant.cache_fd);
  const StageNumber s = grant.stage;
  if (!plan().stages.has(s)) return Error{concat("a grant names the unknown stage ", s.value())};
  const PlanStage& stage = plan().stages[s];
  BRIGADE_ASSIGN(const std::uint64_t bytes, memory_bytes(fd.get()));
  if (bytes != memory_segment_bytes(stage)) {
    return Error{concat("the buffers of \"", stage.name, "\" have ", bytes, " bytes, expected ",
                        memory_segment_bytes(stage))};
  }
  if (cache_fd.get() >= 0) {
    BRIGADE_ASSIGN(rings_[s], map_with_cache(stage, fd.get(), cache_fd.get()));
    return {};
  }
  const MapMode mode = grant.writable ? MapMode::read_write : MapMode::read_only;
  BRIGADE_ASSIGN(rings_[s], map_memory(fd.get(), bytes, mode, stage.ring.page_bytes()));
  return {};
}

ByStage<SlotRing> AttachedSegments::slot_rings() const {
  ByStage<SlotRing> windows;
  for (const StageNumber s : rings_.numbers()) {
    windows.push_back(window(plan().stages[s], rings_[s].data()));
  }
  return windows;
}

void begin_at(const Plan& plan, const ResumePoint& resume, Control<SystemPolicy>& control) {
  for (const StageNumber s : resume.stages.numbers()) {
    const PlanStage& stage = plan.stages[s];
    const ResumeStage& before = resume.stages[s];
    for (int r = 0; r < stage.replicas; ++r)
      control.replicas[stage.first_replica + r].ended.value.store(before.epoch_ends_told);
    for (const std::uint64_t entry : before.quarantined) control.stages[s].quarantine.append(entry);
    control.stages[s].fingerprint->value.store(before.fingerprint);
  }
  for (const IndexSpaceNumber d : resume.index_spaces.numbers()) {
    NumberList<SystemPolicy>& ends = control.epoch_ends[d];
    for (std::uint64_t e = 0; e < resume.index_spaces[d].first_epoch && e < ends.capacity(); ++e)
      ends.record(e, 0);  // numbers begin after them
  }
}

}  // namespace brigade
