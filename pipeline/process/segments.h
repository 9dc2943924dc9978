#pragma once

// The shared memory of a run: one control segment, one segment per pool, and the plan, which is
// sealed: nobody can change it any more. Created by the supervisor before any worker exists;
// workers map them by inherited descriptor, pools they only read through a descriptor that cannot
// write. Nothing has a name, so nothing is left behind however the processes end.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/plan/plan.h"
#include "pipeline/process/joined_memory.h"
#include "pipeline/process/messages.h"
#include "transports/layout.h"
#include "transports/memory_file.h"
#include "transports/row_pool.h"

namespace brigade {

/// The supervisor's side. Not movable: the control words point into it.
class Segments {
 public:
  /// Creates and lays out everything; pool pages come later (PoolFiller). `plan_text`: what workers
  /// read the plan from. `kept_fds`: by stage, the file that a cache keeps its samples in (-1:
  /// none); they stay open. Errors name the segment: "the buffers of augment -> train: ...".
  static Result<std::unique_ptr<Segments>> create(const Plan& plan, const std::string& plan_text,
                                                  const std::vector<int>& kept_fds = {});

  Control<SystemPolicy>& control() { return control_; }
  const GraphShape& shape() const { return shape_; }
  int control_fd() const { return control_file_.fd(); }
  int plan_fd() const { return plan_file_.fd(); }
  /// Read-write, and read-only where somebody else reads. -1 for a stage without a pool.
  int pool_fd(int stage, MapMode mode) const;
  std::byte* pool_data(int stage) const;  ///< null for a stage without a pool
  int kept_fd(int stage) const;           ///< -1 for all but a cache with a file

  /// This process's window on every pool.
  std::vector<RowPool> row_pools() const;

 private:
  struct Pool {
    MemoryFile file;
    MappedMemory memory;
    JoinedMemory joined;  // instead, of a cache with a file
    int kept_fd = -1;
    std::byte* data() const { return joined.data() ? joined.data() : memory.data(); }
  };

  explicit Segments(const Plan& plan) : plan_(&plan) {}
  Result<void> create_control_segment();
  Result<void> create_pool(const PlanStage& stage, int kept_fd);

  const Plan* plan_;
  GraphShape shape_;
  MemoryFile plan_file_;
  MemoryFile control_file_;
  MappedMemory control_memory_;
  Control<SystemPolicy> control_;
  std::vector<Pool> pools_;  // by stage
};

/// A worker's side: what it maps through the descriptors it was given, which are closed afterwards.
/// Not movable.
class AttachedSegments {
 public:
  /// Refuses a control segment of another layout, with both values.
  static Result<std::unique_ptr<AttachedSegments>> attach(const WorkerRole& role);

  /// The control segment of a running graph, to be read only: descriptors open for reading, which
  /// are closed.
  static Result<std::unique_ptr<AttachedSegments>> look_into(OwnedFd control, OwnedFd plan);

  const Plan& plan() const { return plan_; }
  Control<SystemPolicy>& control() { return control_; }
  /// By stage; empty for pools this worker was not given.
  std::vector<RowPool> row_pools() const;

 private:
  AttachedSegments() = default;
  Result<void> read_plan(OwnedFd fd);
  Result<void> attach_control_segment(OwnedFd fd, MapMode mode);
  Result<void> attach_pool(const PoolGrant& grant);

  Plan plan_;
  GraphShape shape_;
  MappedMemory control_memory_;
  Control<SystemPolicy> control_;
  std::vector<MappedMemory> pools_;  // by stage
  JoinedMemory joined_;              // of a worker of a cache with a file, instead of its pool
  int joined_stage_ = -1;
};

}  // namespace brigade
