#include "pipeline/run/attach.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>

#include <brigade/text.h>
#include "base/io.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKernelNameBytesMax = 15;   // that the kernel keeps of a process's name
constexpr std::string_view kProgram = "brigade";  // and its workers, whose parent it is

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    pid_t pid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed.ec == std::errc{} && parsed.ptr == name.data() + name.size()) pids.push_back(pid);
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

/// What the kernel calls it: the first bytes of its program's file name.
std::string name_of(pid_t pid) {
  std::ifstream file(concat("/proc/", pid, "/comm"));
  std::string name;
  std::getline(file, name);
  return name;
}

std::optional<RunningGraph> graph_of(pid_t pid) {
  RunningGraph graph{pid, "", ""};
  std::error_code error;
  const fs::path folder = concat("/proc/", pid, "/fd");
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unreadable;
    const std::string target = fs::read_symlink(entry->path(), unreadable).string();
    if (target.starts_with("/memfd:brigade-control")) graph.control = entry->path().string();
    if (target.starts_with("/memfd:brigade-plan")) graph.plan = entry->path().string();
  }
  if (graph.control.empty() || graph.plan.empty()) return std::nullopt;
  return graph;
}

/// 0 where it has ended.
pid_t parent_process(pid_t pid) {
  std::ifstream status(concat("/proc/", pid, "/status"));
  pid_t parent = 0;
  for (std::string line; std::getline(status, line);)
    if (const auto number = strip_prefix(line, "PPid:\t"))
      std::from_chars(number->data(), number->data() + number->size(), parent);
  return parent;
}

bool same_memory(const std::string& a, const std::string& b) {
  struct stat one, other;
  return stat(a.c_str(), &one) == 0 && stat(b.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

/// A worker that is just being started, or a child that a program forked: it has its descriptors
/// from a supervisor.
bool holds_its_parents(const RunningGraph& graph, const std::vector<RunningGraph>& all) {
  const pid_t parent = parent_process(graph.pid);
  return std::any_of(all.begin(), all.end(), [&](const RunningGraph& other) {
    return other.pid == parent && same_memory(graph.control, other.control);
  });
}

/// The user that a process acts as.
Result<uid_t> user_of(pid_t pid) {
  struct stat status;
  if (stat(concat("/proc/", pid).c_str(), &status) != 0) return Error{errno_text()};
  return status.st_uid;
}

}  // namespace

pid_t pid_of_worker(const std::map<std::string, pid_t>& workers, const std::string& name) {
  auto found = workers.find(name);
  if (found == workers.end()) found = workers.find(name.substr(0, kKernelNameBytesMax));
  return found == workers.end() ? 0 : found->second;
}

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
      const auto name = strip_prefix(title, "brigade: ");
      const auto [worker, is_new] = workers.emplace(name ? std::string(*name) : name_of(pid), pid);
      if (!is_new) worker->second = 0;  // cut off, both are called the same: neither is known
    }
  }
  return workers;
}

FoundGraphs find_graphs() {
  FoundGraphs found;
  std::vector<RunningGraph> graphs;
  for (const pid_t pid : all_processes()) {
    if (auto graph = graph_of(pid)) {
      graphs.push_back(std::move(*graph));
    } else if (name_of(pid) == kProgram && name_of(parent_process(pid)) != kProgram &&
               is_closed(pid)) {
      found.closed.push_back(pid);
    }
  }
  for (const RunningGraph& graph : graphs)
    if (!holds_its_parents(graph, graphs)) found.running.push_back(graph);
  return found;
}

bool is_closed(pid_t pid) {
  std::error_code error;
  fs::directory_iterator(concat("/proc/", pid, "/fd"), error);
  return error == std::errc::permission_denied;
}

bool has_ended(const RunningGraph& graph) {
  struct stat status;
  return lstat(graph.control.c_str(), &status) != 0 && errno == ENOENT;
}

namespace {

Result<std::unique_ptr<AttachedSegments>> open_and_look(const RunningGraph& graph) {
  BRIGADE_ASSIGN(const uid_t user, user_of(graph.pid));
  BRIGADE_ASSIGN(OwnedFd control, open_foreign_memory(graph.control, user));
  BRIGADE_ASSIGN(OwnedFd plan, open_foreign_memory(graph.plan, user));
  return AttachedSegments::look_into(std::move(control), std::move(plan));
}

}  // namespace

Result<std::unique_ptr<AttachedSegments>> look_into(const RunningGraph& graph) {
  auto segments = open_and_look(graph);
  if (!segments)
    return segments.error().within(concat("cannot inspect the graph of process ", graph.pid));
  return segments;
}

}  // namespace brigade
