#pragma once

// A reason why a valid graph cannot be planned on this machine. The planner collects
// all of them; the caller shows each at its place in the user's file. Plain data.

#include <string>
#include <vector>

#include "pipeline/config/graph/valid_graph.h"

namespace brigade {

struct PlanProblem {
  SourceMark mark;      ///< of the stage; of nothing (file -1) when it concerns the whole graph
  std::string stage;    ///< its name; empty when it concerns the whole graph
  std::string message;  ///< what was expected and found, without the stage's name in front
  std::string help;     ///< what to do about it
};

using PlanProblems = std::vector<PlanProblem>;

inline PlanProblem problem_at(const ValidStage& stage, std::string message, std::string help) {
  return {stage.mark, stage.name, std::move(message), std::move(help)};
}

}  // namespace brigade
