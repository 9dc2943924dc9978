#include "pipeline/run/finish_shared.h"

#include <string>
#include <vector>

namespace brigade {

RunOutcome finish_shared(const SharedTensors& shared, RunOutcome ended, RunOutput& lines) {
  std::vector<std::string> wrong = shared.written_beside();
  if (wrong.empty() && ended.failure.empty())
    if (const auto saved = shared.save(); !saved) wrong.push_back(saved.error().message);
  for (const std::string& line : wrong) lines.error(line);
  if (wrong.empty()) return ended;
  ended.end = RunEnd::failed;
  if (ended.failure.empty()) ended.failure = wrong.front();
  return ended;
}

}  // namespace brigade
