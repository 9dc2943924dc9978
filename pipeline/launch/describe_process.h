#pragma once

// Asks Python stages what they read and write: see StageDescriber. Every call is a process, which
// has ended or is killed, with what it has started, when the call returns. Any thread.

#include "pipeline/config/validate/stage_describer.h"

namespace brigade {

class DescribeProcess final : public StageDescriber {
 public:
  /// $BRIGADE_PYTHON: the package sets it to its own.
  std::string python() override;
  std::string python_path() override;
  Result<std::string> describe(const StageQuestion& question) override;
};

}  // namespace brigade
