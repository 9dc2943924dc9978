#pragma once

// Keeps the events of a run, and of those that people read the lines, as "output: text",
// "note: text" and so on. Any thread writes; what is there is read once they have ended.

#include <mutex>
#include <string>
#include <vector>

#include "pipeline/report/run_output.h"

namespace brigade {

class KeepingLines final : public RunOutput {
 public:
  std::vector<std::string> lines;
  std::vector<std::string> progress_lines;
  std::vector<Event> events;
  std::int64_t every_ns = 0;

  void tell(const Event& event) override {
    const std::lock_guard lock(mutex_);
    events.push_back(event);
    if (event.level == EventLevel::debug) return;
    const std::string text = event_text(event);
    if (event.kind == EventKind::progress) return progress_lines.push_back(text);
    const bool output = event.kind == EventKind::logged || event.kind == EventKind::printed;
    constexpr const char* kNames[] = {"", "note: ", "warning: ", "error: "};
    lines.push_back((output ? "output: " : kNames[static_cast<int>(event.level)]) + text);
  }
  std::vector<Event> of(EventKind kind) const {
    std::vector<Event> found;
    for (const Event& event : events)
      if (event.kind == kind) found.push_back(event);
    return found;
  }
  std::int64_t progress_every_ns() const override { return every_ns; }

 private:
  std::mutex mutex_;
};

}  // namespace brigade
