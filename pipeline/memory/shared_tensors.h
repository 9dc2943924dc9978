#pragma once

// The memory of shared tensors (`shared:`): a segment each, which outlives the workers and
// the attempts of a run. Created, filled from files and saved by the supervisor's process;
// replicas map them by inherited descriptor. Layout: pipeline/plan/shared_tensors.h.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <brigade/result.h>
#include <brigade/shared.h>
#include "pipeline/plan/plan.h"
#include "pipeline/plan/resume_point.h"
#include "transports/memory_file.h"

namespace brigade {

/// A tensor that a worker maps: its stage, or for the checkpoints of its stage.
struct SharedGrant {
  int tensor = 0;  ///< by Plan::shared
  int fd = -1;
  bool guarded = false;  ///< how its parts lie
  friend bool operator==(const SharedGrant&, const SharedGrant&) = default;
};

/// The supervisor's side. Any thread.
class SharedTensors {
 public:
  /// `resume`: where a run resumes, what has a `save:` begins with what that run has saved there.
  /// `guarded`: writing beside a part is looked for. Errors name the tensor; memory has been given,
  /// so that it cannot run out later.
  static Result<std::shared_ptr<SharedTensors>> create(const Plan& plan, const ResumePoint& resume,
                                                       bool guarded);

  SharedGrant grant(int tensor) const;
  /// All of one, for the program; it may write unless replicas have parts of their own. Where these
  /// lie apart (guarded) it is what they hold now, as a copy. Error: there is none of that name.
  Result<SharedTensor> find(std::string_view name) const;
  /// Replaces the file of each that has one, unless nobody has initialised it yet.
  Result<void> save() const;
  /// Whose bytes beside a part were written, in a line each.
  std::vector<std::string> written_beside() const;

 private:
  struct Segment {
    MemoryFile file;
    std::shared_ptr<const Mapping> memory;
  };
  SharedTensors(const Plan& plan, bool guarded) : plan_(plan), guarded_(guarded) {}
  Result<void> make(const PlanShared& shared, const ResumePoint& resume);
  std::byte* part(const PlanShared& shared, const Segment& segment, std::uint64_t number) const;
  Segment& segment(const PlanShared& shared) const;

  const Plan& plan_;
  const bool guarded_;
  mutable std::vector<Segment> segments_;  // by Plan::shared
};

/// Those that a worker of the stage maps: the stage's, in its order, and where it saves those that
/// are saved with it.
std::vector<int> shared_tensors_of(const Plan& plan, const PlanStage& stage);

/// What a replica maps: its parts, and all of the others. Between elements and what lies beside
/// them in its address space are pages that nobody may touch. The descriptor stays open.
Result<SharedTensor> map_shared_tensor(const Plan& plan, const PlanStage& stage, int replica,
                                       const SharedGrant& grant);

/// The shared tensors of a replica.
struct ReplicaShared {
  std::vector<SharedTensor> tensors = {};  ///< the stage's
  /// Before each checkpoint of the stage: saves what has a `save:`. Empty: there is nothing.
  std::function<Result<void>()> save = {};
};

/// Of the grants of shared_tensors_of(). Descriptors stay open.
Result<ReplicaShared> map_shared_tensors(const Plan& plan, const PlanStage& stage, int replica,
                                         std::span<const SharedGrant> grants);

/// If one replica of many fills a tensor (`init: replica_0`), the others wait for it.
///
/// Before open(): waits until other replicas have initialised what this one does not, and sets what
/// it initialises itself to zeros again. False if `ended` returns true meanwhile. If the wait takes
/// long, `waits` is called once with what is waited for.
bool await_shared_tensors(const std::vector<SharedTensor>& tensors,
                          const std::function<bool()>& ended,
                          const std::function<void(const std::string&)>& waits);

}  // namespace brigade
