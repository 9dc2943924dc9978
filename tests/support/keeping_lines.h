#pragma once

// Keeps the lines of a run, as "kind: text". Any thread writes; what is there is read once they
// have ended.

#include <mutex>
#include <string>
#include <vector>

#include "pipeline/supervisor/run_output.h"

namespace brigade {

class KeepingLines final : public RunOutput {
 public:
  std::vector<std::string> lines;
  std::vector<std::string> progress_lines;
  std::int64_t every_ns = 0;

  void line(LineKind kind, const std::string& text) override {
    const std::lock_guard lock(mutex_);
    constexpr const char* kNames[] = {"output: ", "note: ", "warning: ", "error: "};
    lines.push_back(kNames[static_cast<int>(kind)] + text);
  }
  void progress(const std::string& text) override { progress_lines.push_back(text); }
  std::int64_t progress_every_ns() const override { return every_ns; }

 private:
  std::mutex mutex_;
};

}  // namespace brigade
