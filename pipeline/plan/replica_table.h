#pragma once

// The numbers of the replicas of all stages, in the order of
// the stages of the graph. Words in shared memory, events of
// workers and the supervisor's records use that number.

#include <string>
#include <vector>

#include "pipeline/plan/plan.h"

namespace brigade {

/// For messages: stage "augment" replica 1.
std::string replica_name(const std::string& stage, int replica);

class ReplicaTable {
 public:
  /// `plan` outlives it.
  explicit ReplicaTable(const Plan& plan);

  std::size_t size() const { return entries_.size(); }
  NumberRange<int> numbers() const { return entries_.numbers(); }
  /// Index into the plan's stages.
  StageNumber stage_index(int number) const { return at(number).stage; }
  const PlanStage& stage(int number) const { return plan_.stages[at(number).stage]; }
  /// Of its stage.
  int replica(int number) const { return at(number).replica; }
  /// "augment.1"
  std::string name(int number) const;
  std::string title(int number) const;  ///< replica_name()

 private:
  struct Entry {
    StageNumber stage = 0;
    int replica = 0;
  };
  const Entry& at(int number) const { return entries_[number]; }

  const Plan& plan_;
  ByReplica<Entry> entries_;
};

}  // namespace brigade
