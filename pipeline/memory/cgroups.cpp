#include "pipeline/memory/cgroups.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <vector>

#include <brigade/text.h>
#include "base/owned_fd.h"

namespace brigade {
namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};
constexpr std::string_view kKills = "oom_kill";
constexpr std::uint64_t kNoLimitFrom = std::uint64_t{1} << 60;  // version 1 writes a huge number

// A mounted hierarchy: what of it is seen, and where.
struct Mount {
  bool version2 = false;
  std::string options;  // version 1: its controllers, among others
  std::string root;     // the group that is mounted
  std::string point;
};

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (std::string_view word : split(line, ' ')) {
    if (!trim(word).empty()) words.emplace_back(trim(word));
  }
  return words;
}

std::optional<std::int64_t> number(std::string_view text) {
  text = trim(text);
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || parsed.ec != std::errc()) return std::nullopt;
  return value;
}

bool has_option(const std::string& list, std::string_view option) {
  for (std::string_view piece : split(list, ',')) {
    if (piece == option) return true;
  }
  return false;
}

// Lines of mountinfo: ID PARENT DEVICE ROOT POINT OPTIONS [TAGS] - TYPE SOURCE SUPER_OPTIONS
std::vector<Mount> mounts(const std::string& root) {
  std::vector<Mount> found;
  const std::string text = read_text(root + "/proc/self/mountinfo");
  for (std::string_view line : split(text, '\n')) {
    const std::vector<std::string> words = words_of(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 4) continue;
    const std::string& type = dash[1];
    if (type == "cgroup2" || type == "cgroup") {
      found.push_back({type == "cgroup2", dash[3], words[3], words[4]});
    }
  }
  return found;
}

// The group this process is in, in the hierarchy with `controller` (empty: version 2).
std::optional<std::string> own_group(const std::string& root, std::string_view controller) {
  const std::string text = read_text(root + "/proc/self/cgroup");
  for (std::string_view line : split(text, '\n')) {
    const auto pieces = split(line, ':');
    if (pieces.size() < 3) continue;
    if (controller.empty() ? pieces[1].empty() : has_option(std::string(pieces[1]), controller)) {
      // The path may hold colons itself.
      return std::string(line.substr(pieces[0].size() + pieces[1].size() + 2));
    }
  }
  return std::nullopt;
}

// The folders from the process's own group up to the mount point.
std::vector<std::string> group_folders(const std::string& root, const Mount& mount,
                                       std::string group) {
  if (mount.root != "/" && group.starts_with(mount.root)) group.erase(0, mount.root.size());
  std::vector<std::string> folders;
  while (!group.empty() && group != "/") {
    folders.push_back(root + mount.point + group);
    group.erase(group.find_last_of('/'));
  }
  folders.push_back(root + mount.point);
  return folders;
}

double quota_version2(const std::string& folder) {
  const auto words = words_of(read_text(folder + "/cpu.max"));  // "QUOTA PERIOD" or "max PERIOD"
  if (words.size() < 2) return 0;
  const auto quota = number(words[0]);
  const auto period = number(words[1]);
  if (!quota || !period || *quota <= 0 || *period <= 0) return 0;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

double quota_version1(const std::string& folder) {
  const auto quota = number(read_text(folder + "/cpu.cfs_quota_us"));
  const auto period = number(read_text(folder + "/cpu.cfs_period_us"));
  if (!quota || !period || *quota <= 0 || *period <= 0) return 0;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

// Of a text with a name and a number per line.
std::optional<std::uint64_t> statistic(std::string_view text, std::string_view name) {
  for (std::string_view line : split(text, '\n')) {
    const auto words = words_of(line);
    if (words.size() != 2 || words[0] != name) continue;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(number(words[1]).value_or(0), 0));
  }
  return std::nullopt;
}

// Of an open file; what the kernel says in it now.
std::string read_again(int fd) {
  std::string text;
  char some[4096];
  for (ssize_t got = 1; got > 0;) {
    got = pread(fd, some, sizeof some, static_cast<off_t>(text.size()));
    if (got > 0) text.append(some, static_cast<std::size_t>(got));
  }
  return text;
}

void consider_memory(const std::string& folder, bool version2, CgroupLimits& limits) {
  const auto limit =
      number(read_text(folder + (version2 ? "/memory.max" : "/memory.limit_in_bytes")));
  if (!limit || *limit < 0 || static_cast<std::uint64_t>(*limit) >= kNoLimitFrom) return;
  const auto used =
      number(read_text(folder + (version2 ? "/memory.current" : "/memory.usage_in_bytes")));
  const std::uint64_t cache = statistic(read_text(folder + "/memory.stat"),
                                        version2 ? "inactive_file" : "total_inactive_file")
                                  .value_or(0);
  const auto total = static_cast<std::uint64_t>(std::max<std::int64_t>(used.value_or(0), 0));
  const std::uint64_t kept = total > cache ? total - cache : 0;
  const auto bytes = static_cast<std::uint64_t>(*limit);
  const auto room = [](std::uint64_t most, std::uint64_t taken) {
    return most > taken ? most - taken : 0;
  };
  if (limits.memory_limit_bytes != kNone &&
      room(bytes, kept) >= room(limits.memory_limit_bytes, limits.memory_used_bytes)) {
    return;
  }
  limits.memory_limit_bytes = bytes;
  limits.memory_used_bytes = kept;
}

void consider_cores(double cores, CgroupLimits& limits) {
  if (cores > 0 && (limits.cores == 0 || cores < limits.cores)) limits.cores = cores;
}

}  // namespace

CgroupLimits read_cgroups(const std::string& root) {
  CgroupLimits limits;
  for (const Mount& mount : mounts(root)) {
    for (const char* controller : {"cpu", "memory"}) {
      if (!mount.version2 && !has_option(mount.options, controller)) continue;
      const auto group = own_group(root, mount.version2 ? "" : controller);
      if (!group) continue;
      for (const std::string& folder : group_folders(root, mount, *group)) {
        if (controller == std::string_view("memory")) {
          consider_memory(folder, mount.version2, limits);
        } else {
          consider_cores(mount.version2 ? quota_version2(folder) : quota_version1(folder), limits);
        }
      }
    }
  }
  return limits;
}

std::function<std::uint64_t()> memory_kill_counter(const std::string& root) {
  std::vector<std::string> files;
  for (const Mount& mount : mounts(root)) {
    if (!mount.version2 && !has_option(mount.options, "memory")) continue;
    const auto group = own_group(root, mount.version2 ? "" : "memory");
    if (!group) continue;
    // A victim is counted in its own group, whichever limit it was killed for.
    files.push_back(group_folders(root, mount, *group).front() +
                    (mount.version2 ? "/memory.events" : "/memory.oom_control"));
  }
  files.push_back(root + "/proc/vmstat");
  for (const std::string& path : files) {
    const auto file = std::make_shared<OwnedFd>(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const auto kills = [file] { return statistic(read_again(file->get()), kKills); };
    if (kills()) return [kills] { return kills().value_or(0); };
  }
  return [] { return std::uint64_t{0}; };
}

}  // namespace brigade
