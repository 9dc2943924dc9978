#include "stages/basic/crash_marker.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/random.h"
#include "base/text.h"

namespace brigade {
namespace {

/// Field 22 of /proc/PID/stat, counted from behind the name, which may hold anything.
std::string start_time(pid_t pid) {
  std::ifstream file(concat("/proc/", pid, "/stat"));
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string::npos) return "0";
  const auto fields = split(std::string_view(line).substr(name_end + 2), ' ');
  return std::string(fields.size() > 19 ? fields[19] : "0");
}

}  // namespace

std::string CrashMarker::path_of_run(std::string_view stage) {
  std::error_code ignored;
  auto folder = std::filesystem::temp_directory_path(ignored);
  if (ignored) folder = "/tmp";
  const pid_t parent = getppid();
  return folder /
         concat("brigade-crashed-", parent, '-', start_time(parent), '-', stream_id(stage));
}

bool CrashMarker::has(std::uint64_t sample_id) const {
  std::ifstream file(path_);
  for (std::uint64_t id = 0; file >> id;)
    if (id == sample_id) return true;
  return false;
}

Result<void> CrashMarker::add(std::uint64_t sample_id) {
  std::ofstream file(path_, std::ios::app);
  file << concat(sample_id, '\n') << std::flush;
  if (!file) return Error{concat("cannot write the crash marker ", path_)};
  return {};
}

void CrashMarker::remove() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace brigade
