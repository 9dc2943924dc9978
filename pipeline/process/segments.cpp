#include "pipeline/process/segments.h"

#include <unistd.h>

#include <cstring>

#include "base/text.h"
#include "pipeline/plan/memory_budget.h"
#include "pipeline/plan/plan_json.h"
#include "pipeline/run/graph_shape.h"

namespace brigade {
namespace {

RowPool window(const PlanStage& stage, const MappedMemory& memory) {
  if (memory.data() == nullptr) return {};
  return RowPool(memory.data(), stage.pool.rows, row_arrays(stage.pool));
}

}  // namespace

Result<std::unique_ptr<Segments>> Segments::create(const Plan& plan, const std::string& plan_text) {
  std::unique_ptr<Segments> segments(new Segments(plan));
  if (auto made = segments->create_control_segment(plan_text); !made) {
    return made.error().within("the control segment");
  }
  for (const PlanStage& stage : plan.stages) {
    auto made = segments->create_pool(stage);
    if (!made) return made.error().within(concat("the buffers of ", edge_text(plan, stage)));
  }
  return segments;
}

Result<void> Segments::create_control_segment(const std::string& plan_text) {
  shape_ = graph_shape(*plan_);
  shape_.blob_bytes = plan_text.size();
  const std::uint64_t bytes = control_bytes<SystemPolicy>(shape_);
  BRIGADE_ASSIGN(control_file_, MemoryFile::create("brigade-control", bytes));
  BRIGADE_ASSIGN(control_memory_, map_memory(control_file_.fd(), bytes, MapMode::read_write));
  BRIGADE_TRY(populate(control_memory_.data(), bytes, control_file_.fd(), 0));
  control_ = create_control<SystemPolicy>(control_memory_.data(), shape_);
  std::memcpy(control_.blob, plan_text.data(), plan_text.size());
  return {};
}

Result<void> Segments::create_pool(const PlanStage& stage) {
  Pool& pool = pools_.emplace_back();
  if (!stage.has_pool) return {};
  BRIGADE_ASSIGN(pool.file, MemoryFile::create("brigade-" + stage.name, stage.segment_bytes()));
  if (!stage.readers.empty()) BRIGADE_TRY(pool.file.open_read_only());
  BRIGADE_ASSIGN(pool.memory,
                 map_memory(pool.file.fd(), stage.segment_bytes(), MapMode::read_write));
  return {};
}

int Segments::pool_fd(int stage, MapMode mode) const {
  const MemoryFile& file = pools_[static_cast<std::size_t>(stage)].file;
  return mode == MapMode::read_only ? file.read_only_fd() : file.fd();
}

std::byte* Segments::pool_data(int stage) const {
  return pools_[static_cast<std::size_t>(stage)].memory.data();
}

std::vector<RowPool> Segments::row_pools() const {
  std::vector<RowPool> windows;
  for (std::size_t s = 0; s < pools_.size(); ++s) {
    windows.push_back(window(plan_->stages[s], pools_[s].memory));
  }
  return windows;
}

Result<std::unique_ptr<AttachedSegments>> AttachedSegments::attach(const WorkerRole& role) {
  std::unique_ptr<AttachedSegments> segments(new AttachedSegments());
  BRIGADE_TRY(segments->attach_control_segment(role.control_fd, MapMode::read_write));
  segments->pools_.resize(segments->plan_.stages.size());
  for (const PoolGrant& grant : role.pools) BRIGADE_TRY(segments->attach_pool(grant));
  return segments;
}

Result<std::unique_ptr<AttachedSegments>> AttachedSegments::look_into(int control_fd) {
  std::unique_ptr<AttachedSegments> segments(new AttachedSegments());
  BRIGADE_TRY(segments->attach_control_segment(control_fd, MapMode::read_only));
  return segments;
}

Result<void> AttachedSegments::attach_control_segment(int fd, MapMode mode) {
  BRIGADE_ASSIGN(const std::uint64_t bytes, memory_bytes(fd));
  BRIGADE_ASSIGN(control_memory_, map_memory(fd, bytes, mode));
  close(fd);
  BRIGADE_ASSIGN(const ControlHeader header, read_control_header(control_memory_.data(), bytes));
  const auto* text = reinterpret_cast<const char*>(control_memory_.data()) + header.blob_offset;
  BRIGADE_ASSIGN(plan_, plan_from_json({text, header.blob_bytes}));
  shape_ = graph_shape(plan_);
  shape_.blob_bytes = header.blob_bytes;
  BRIGADE_ASSIGN(control_, attach_control<SystemPolicy>(control_memory_.data(), bytes, shape_));
  return {};
}

Result<void> AttachedSegments::attach_pool(const PoolGrant& grant) {
  const auto s = static_cast<std::size_t>(grant.stage);
  if (s >= plan_.stages.size()) return Error{concat("a grant names stage ", grant.stage)};
  const PlanStage& stage = plan_.stages[s];
  BRIGADE_ASSIGN(const std::uint64_t bytes, memory_bytes(grant.fd));
  if (bytes != stage.segment_bytes()) {
    return Error{concat("the buffers of \"", stage.name, "\" have ", bytes,
                        " bytes, the plan says ", stage.segment_bytes())};
  }
  const MapMode mode = grant.writable ? MapMode::read_write : MapMode::read_only;
  BRIGADE_ASSIGN(pools_[s], map_memory(grant.fd, bytes, mode));
  close(grant.fd);
  return {};
}

std::vector<RowPool> AttachedSegments::row_pools() const {
  std::vector<RowPool> windows;
  for (std::size_t s = 0; s < pools_.size(); ++s) {
    windows.push_back(window(plan_.stages[s], pools_[s]));
  }
  return windows;
}

}  // namespace brigade
