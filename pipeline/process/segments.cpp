#include "pipeline/process/segments.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "pipeline/plan/caches.h"
#include "pipeline/plan/memory_budget.h"
#include "pipeline/plan/plan_json.h"
#include "pipeline/run/begin_at.h"
#include "pipeline/run/graph_shape.h"
#include "stages/api/cache_file.h"

namespace brigade {
namespace {

constexpr std::uint64_t kPlanBytesMax = 64 << 20;  // of a graph that somebody else runs, too

RowPool window(const PlanStage& stage, std::byte* memory) {
  if (memory == nullptr) return {};
  return RowPool(memory, stage.pool.rows, row_arrays(stage.pool));
}

/// Before the first claim: a worker beyond the barriers would not see who sleeps.
Result<void> join_barriers(const Control<SystemPolicy>& control) {
  if (control.wake_order == WakeOrder::by_finisher || SystemPolicy::join_barriers()) return {};
  return Error{
      concat("this run wakes sleepers by membarrier(2), which its supervisor may call and ",
             "this worker may not (", std::strerror(errno),
             "); let the filter of system calls (seccomp) treat both alike")};
}

Result<JoinedMemory> map_with_kept(const PlanStage& stage, int fd, int kept_fd) {
  return JoinedMemory::map({fd, 0, stage.pool.bytes},
                           {kept_fd, kCacheHeaderBytes, stage.cache.bytes});
}

}  // namespace

Result<std::unique_ptr<Segments>> Segments::create(const Plan& plan, const std::string& plan_text,
                                                   const std::vector<int>& kept_fds) {
  std::unique_ptr<Segments> segments(new Segments(plan));
  auto plan_file = MemoryFile::create_holding("brigade-plan", plan_text);
  if (!plan_file) return plan_file.error().within("the plan");
  segments->plan_file_ = std::move(*plan_file);
  if (auto made = segments->create_control_segment(); !made) {
    return made.error().within("the control segment");
  }
  for (const PlanStage& stage : plan.stages) {
    const auto s = static_cast<std::size_t>(&stage - plan.stages.data());
    auto made = segments->create_pool(stage, s < kept_fds.size() ? kept_fds[s] : -1);
    if (!made) return made.error().within(concat("the buffers of ", edge_text(plan, stage)));
  }
  return segments;
}

Result<void> Segments::create_control_segment() {
  shape_ = graph_shape(*plan_);
  const std::uint64_t bytes = control_bytes<SystemPolicy>(shape_);
  BRIGADE_ASSIGN(control_file_, MemoryFile::create("brigade-control", bytes));
  BRIGADE_ASSIGN(control_memory_, map_memory(control_file_.fd(), bytes, MapMode::read_write));
  BRIGADE_TRY(populate(control_memory_.data(), bytes, control_file_.fd(), 0));
  control_ = create_control<SystemPolicy>(control_memory_.data(), shape_,
                                          choose_wake_order<SystemPolicy>());
  begin_at(*plan_, control_);
  return {};
}

Result<void> Segments::create_pool(const PlanStage& stage, int kept_fd) {
  Pool& pool = pools_.emplace_back();
  if (!stage.has_pool) return {};
  const std::uint64_t bytes = memory_segment_bytes(stage);
  BRIGADE_ASSIGN(pool.file, MemoryFile::create("brigade-pool-" + stage.name, bytes));
  if (!stage.readers.empty()) BRIGADE_TRY(pool.file.open_read_only());
  if (bytes == stage.segment_bytes()) {
    BRIGADE_ASSIGN(pool.memory, map_memory(pool.file.fd(), bytes, MapMode::read_write));
    return {};
  }
  if (kept_fd < 0) return Error{concat(cache_file(stage), " is not open")};
  pool.kept_fd = kept_fd;
  BRIGADE_ASSIGN(pool.joined, map_with_kept(stage, pool.file.fd(), kept_fd));
  return {};
}

int Segments::kept_fd(int stage) const { return pools_[static_cast<std::size_t>(stage)].kept_fd; }

int Segments::pool_fd(int stage, MapMode mode) const {
  const MemoryFile& file = pools_[static_cast<std::size_t>(stage)].file;
  return mode == MapMode::read_only ? file.read_only_fd() : file.fd();
}

std::byte* Segments::pool_data(int stage) const {
  return pools_[static_cast<std::size_t>(stage)].data();
}

std::vector<RowPool> Segments::row_pools() const {
  std::vector<RowPool> windows;
  for (std::size_t s = 0; s < pools_.size(); ++s) {
    windows.push_back(window(plan_->stages[s], pools_[s].data()));
  }
  return windows;
}

Result<std::unique_ptr<AttachedSegments>> AttachedSegments::attach(const WorkerRole& role) {
  std::unique_ptr<AttachedSegments> segments(new AttachedSegments());
  OwnedFd control(role.control_fd);
  BRIGADE_TRY(segments->read_plan(OwnedFd(role.plan_fd)));
  BRIGADE_TRY(segments->attach_control_segment(std::move(control), MapMode::read_write));
  BRIGADE_TRY(join_barriers(segments->control_));
  segments->pools_.resize(segments->plan_.stages.size());
  for (const PoolGrant& grant : role.pools) BRIGADE_TRY(segments->attach_pool(grant));
  return segments;
}

Result<std::unique_ptr<AttachedSegments>> AttachedSegments::look_into(OwnedFd control,
                                                                      OwnedFd plan) {
  std::unique_ptr<AttachedSegments> segments(new AttachedSegments());
  BRIGADE_TRY(segments->read_plan(std::move(plan)));
  BRIGADE_TRY(segments->attach_control_segment(std::move(control), MapMode::read_only));
  return segments;
}

Result<void> AttachedSegments::read_plan(OwnedFd fd) {
  auto text = read_memory(fd.get(), kPlanBytesMax);
  if (!text) return text.error().within("the plan");
  BRIGADE_ASSIGN(plan_, plan_from_json(*text));
  shape_ = graph_shape(plan_);
  return {};
}

Result<void> AttachedSegments::attach_control_segment(OwnedFd fd, MapMode mode) {
  BRIGADE_ASSIGN(const std::uint64_t bytes, memory_bytes(fd.get()));
  BRIGADE_ASSIGN(control_memory_, map_memory(fd.get(), bytes, mode));
  BRIGADE_ASSIGN(control_, attach_control<SystemPolicy>(control_memory_.data(), bytes, shape_));
  return {};
}

Result<void> AttachedSegments::attach_pool(const PoolGrant& grant) {
  const OwnedFd fd(grant.fd);  // closed once they are mapped, or refused
  const OwnedFd kept_fd(grant.kept_fd);
  const auto s = static_cast<std::size_t>(grant.stage);
  if (s >= plan_.stages.size()) return Error{concat("a grant names stage ", grant.stage)};
  const PlanStage& stage = plan_.stages[s];
  BRIGADE_ASSIGN(const std::uint64_t bytes, memory_bytes(fd.get()));
  if (bytes != memory_segment_bytes(stage)) {
    return Error{concat("the buffers of \"", stage.name, "\" have ", bytes,
                        " bytes, the plan says ", memory_segment_bytes(stage))};
  }
  if (kept_fd.get() >= 0) {
    BRIGADE_ASSIGN(joined_, map_with_kept(stage, fd.get(), kept_fd.get()));
    joined_stage_ = grant.stage;
    return {};
  }
  const MapMode mode = grant.writable ? MapMode::read_write : MapMode::read_only;
  BRIGADE_ASSIGN(pools_[s], map_memory(fd.get(), bytes, mode));
  return {};
}

std::vector<RowPool> AttachedSegments::row_pools() const {
  std::vector<RowPool> windows;
  for (std::size_t s = 0; s < pools_.size(); ++s) {
    windows.push_back(window(
        plan_.stages[s], joined_stage_ == static_cast<int>(s) ? joined_.data() : pools_[s].data()));
  }
  return windows;
}

}  // namespace brigade
