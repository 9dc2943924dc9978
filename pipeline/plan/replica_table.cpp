#include "pipeline/plan/replica_table.h"

#include <brigade/text.h>

namespace brigade {

ReplicaTable::ReplicaTable(const Plan& plan) : plan_(plan) {
  for (const StageNumber s : plan.stages.numbers()) {
    const int replicas = plan.stages[s].replicas;
    for (int r = 0; r < replicas; ++r) entries_.push_back({s, r});
  }
}

std::string replica_name(const std::string& stage, int replica) {
  return concat("stage ", quote(stage), " replica ", replica);
}

std::string ReplicaTable::name(int number) const {
  return concat(stage(number).name, ".", replica(number));
}

std::string ReplicaTable::title(int number) const {
  return replica_name(stage(number).name, replica(number));
}

}  // namespace brigade
