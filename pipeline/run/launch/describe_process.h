#pragma once

// Asks Python stages for their inputs and outputs: see StageDescriber. Every call runs a
// process, which has ended or is killed, with its children, when the call returns. Any thread.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "pipeline/config/graph/stage_describer.h"

namespace brigade {

class DescribeProcess final : public StageDescriber {
 public:
  /// $BRIGADE_PYTHON: the package sets it to its own.
  std::string python() override;
  std::string python_path() override;
  Result<std::string> describe(const StageQuestion& question) override;
};

/// Asks `asked` each question once: a program plans a graph and then starts it, and a user's file
/// may take seconds to import. Whoever was told of a mistake corrects the file and asks again, so
/// only answers without one are kept.
class KeptAnswers final : public StageDescriber {
 public:
  explicit KeptAnswers(std::unique_ptr<StageDescriber> asked) : asked_(std::move(asked)) {}

  std::string python() override { return asked_->python(); }
  std::string python_path() override { return asked_->python_path(); }
  Result<std::string> describe(const StageQuestion& question) override;

 private:
  const std::unique_ptr<StageDescriber> asked_;
  std::mutex mutex_;
  std::map<std::string, std::string> answers_;  // by all that the question says
};

}  // namespace brigade
