#pragma once

// The processes that this one has started and not collected yet.

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <vector>

namespace brigade::support {

inline std::vector<pid_t> children_of_this_process() {
  std::vector<pid_t> children;
  std::error_code error;
  // By the thread that started them.
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::ifstream file(task.path() / "children");
    for (pid_t pid = 0; file >> pid;) children.push_back(pid);
  }
  return children;
}

}  // namespace brigade::support
