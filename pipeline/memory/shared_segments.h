#pragma once

// The shared memory of a run: one control segment, one segment per ring, and the
// plan with its resume point, which are sealed: no process can change them any
// more. Created by the supervisor before any worker exists; workers map them by
// inherited descriptor, rings they only read through a descriptor that cannot
// write. Nothing has a name, so nothing is left behind however the processes end.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/memory/shared_tensors.h"
#include "pipeline/plan/resume_point.h"
#include "pipeline/records/device_rings.h"
#include "transports/layout.h"
#include "transports/memory_file.h"
#include "transports/slot_ring.h"

namespace brigade {

/// A ring that a worker may map.
struct RingGrant {
  StageNumber stage = 0;  ///< whose output it is
  int fd = -1;
  bool writable = false;
  int cache_fd = -1;  ///< of a cache with a file, to its own replicas: that file
  friend bool operator==(const RingGrant&, const RingGrant&) = default;
};

/// The supervisor's side. Not movable: the control words point into it.
class SharedSegments {
 public:
  /// Creates and lays out everything; ring pages come later (Prefault). `plan` outlives the
  /// segments. `cache_fds`: the file that a cache keeps its samples in (-1: none); they
  /// stay open. Errors name the segment: "the buffers of augment -> train: ...".
  static Result<std::unique_ptr<SharedSegments>> create(const Plan& plan, const ResumePoint& resume,
                                                        const ByStage<int>& cache_fds = {});

  Control<SystemPolicy>& control() { return control_; }
  const SharedShape& shape() const { return shape_; }
  int control_fd() const { return control_file_.fd(); }
  int plan_fd() const { return plan_file_.fd(); }
  /// Read-write, and read-only where somebody else reads. -1 for a stage without a ring.
  int ring_fd(StageNumber stage, MapMode mode) const;
  std::byte* ring_data(StageNumber stage) const;  ///< null for a stage without a ring
  int cache_fd(StageNumber stage) const;          ///< -1 for all but a cache with a file

  /// What the graph's `shared:` declares, which outlives the segments of one attempt.
  void share(std::shared_ptr<const SharedTensors> tensors) { shared_ = std::move(tensors); }
  /// The devices' memory of rings, by the stage that writes there; -1: it writes to none.
  void keep_device_memory(ByStage<OwnedFd> fds) { device_fds_ = std::move(fds); }
  /// What of it replicas of the stage map.
  std::vector<DeviceGrant> device_grants(const PlanStage& stage) const;

  /// Those that replicas of the stage map.
  std::vector<SharedGrant> shared_grants(const PlanStage& stage) const;

  /// This process's window on every ring.
  ByStage<SlotRing> slot_rings() const;

 private:
  struct Ring {
    MemoryFile file;
    Mapping memory;
    int cache_fd = -1;
  };

  explicit SharedSegments(const Plan& plan) : plan_(plan) {}
  Result<void> create_control_segment(const ResumePoint& resume);
  Result<void> create_ring(const PlanStage& stage, int cache_fd);

  const Plan& plan_;
  SharedShape shape_;
  MemoryFile plan_file_;
  MemoryFile control_file_;
  Mapping control_memory_;
  Control<SystemPolicy> control_;
  ByStage<Ring> rings_;
  ByStage<OwnedFd> device_fds_;  // none: no ring has any
  std::shared_ptr<const SharedTensors> shared_;
};

/// A worker's side: what it maps through the descriptors it was given, which are closed afterwards.
/// Not movable.
class AttachedSegments {
 public:
  /// Refuses a control segment of another layout, with both values.
  static Result<std::unique_ptr<AttachedSegments>> attach(OwnedFd control, OwnedFd plan,
                                                          std::span<const RingGrant> rings);

  /// The control segment of a running graph, to be read only: descriptors open for reading, which
  /// are closed.
  static Result<std::unique_ptr<AttachedSegments>> look_into(OwnedFd control, OwnedFd plan);

  /// The plan alone; closes its descriptor.
  static Result<std::unique_ptr<AttachedSegments>> read(OwnedFd plan);

  const Plan& plan() const { return run_.plan; }
  const ResumePoint& resume() const { return run_.resume; }
  Control<SystemPolicy>& control() { return control_; }
  /// Empty for rings this worker was not given.
  ByStage<SlotRing> slot_rings() const;

 private:
  explicit AttachedSegments(PlannedRun run);
  Result<void> attach_control_segment(OwnedFd fd, MapMode mode);
  Result<void> attach_ring(const RingGrant& grant);

  const PlannedRun run_;
  const SharedShape shape_;
  Mapping control_memory_;
  Control<SystemPolicy> control_;
  ByStage<Mapping> rings_;
};

/// The initial words of a control segment in a resumed run, except the watermarks, which the shape
/// sets (shared_shape.h): reported ends of epochs, finished epochs of unknown length, samples in
/// quarantine, fingerprints of the sources. Supervisor, once, before any worker exists. Changes
/// nothing for a run from the beginning.
void begin_at(const Plan& plan, const ResumePoint& resume, Control<SystemPolicy>& control);

}  // namespace brigade
