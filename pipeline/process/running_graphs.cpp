#include "pipeline/process/running_graphs.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/text.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;

std::string control_of(pid_t pid) {
  std::error_code error;
  const fs::path folder = concat("/proc/", pid, "/fd");
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unreadable;
    const std::string target = fs::read_symlink(entry->path(), unreadable).string();
    if (!unreadable && target.starts_with("/memfd:brigade-control")) return entry->path().string();
  }
  return "";
}

}  // namespace

std::map<std::string, pid_t> find_workers(pid_t supervisor) {
  std::map<std::string, pid_t> workers;
  std::error_code error;
  // Children are listed under the thread that started them.
  for (fs::directory_iterator thread(concat("/proc/", supervisor, "/task"), error), end;
       !error && thread != end; thread.increment(error)) {
    std::ifstream children(thread->path() / "children");
    for (pid_t pid = 0; children >> pid;) {
      std::ifstream file(concat("/proc/", pid, "/cmdline"), std::ios::binary);
      std::string title;
      std::getline(file, title, '\0');
      if (const auto name = strip_prefix(title, "brigade: ")) workers.emplace(*name, pid);
    }
  }
  return workers;
}

std::vector<RunningGraph> find_running_graphs() {
  std::vector<RunningGraph> graphs;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    pid_t pid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed.ec != std::errc{} || parsed.ptr != name.data() + name.size()) continue;
    std::string control = control_of(pid);
    if (!control.empty()) graphs.push_back({pid, std::move(control)});
  }
  std::sort(graphs.begin(), graphs.end(),
            [](const RunningGraph& a, const RunningGraph& b) { return a.pid < b.pid; });
  return graphs;
}

Result<std::unique_ptr<AttachedSegments>> look_into(const RunningGraph& graph) {
  const int fd = open(graph.control.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return Error{
        concat("cannot look into the graph of process ", graph.pid, ": ", std::strerror(errno))};
  }
  auto segments = AttachedSegments::look_into(fd);
  if (!segments) return segments.error().within(concat("the graph of process ", graph.pid));
  return segments;
}

}  // namespace brigade
