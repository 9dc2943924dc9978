#include "stages/basic/crash_marker.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <brigade/random.h>
#include <brigade/text.h>
#include "base/io.h"
#include "base/shared_path.h"

namespace brigade {
namespace {

/// What only this user and the superuser can read, and changes with each program that is started:
/// where the kernel has laid its parts (proc(5), auxv).
std::string secret_of(pid_t process) {
  std::ifstream file(concat("/proc/", process, "/auxv"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::string CrashMarker::path_of_run(std::string_view stage) {
  std::error_code ignored;
  auto folder = std::filesystem::temp_directory_path(ignored);
  if (ignored) folder = "/tmp";
  const pid_t parent = getppid();
  return folder / concat("brigade-crashed-", stream_id(concat(secret_of(parent), parent)), '-',
                         stream_id(stage));
}

bool CrashMarker::has(std::uint64_t sample_id) const {
  const auto text = read_whole_file(path_);
  if (!text) return false;
  const auto lines = split(*text, '\n');
  return std::find(lines.begin(), lines.end(), std::to_string(sample_id)) != lines.end();
}

Result<void> CrashMarker::add(std::uint64_t sample_id) {
  const auto file = open_to_append(path_, Existing::file);
  if (!file) return file.error().within("the crash marker");
  if (write_all(file->get(), concat(sample_id, '\n'))) return {};
  return Error{concat("cannot write the crash marker ", path_)};
}

void CrashMarker::remove() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace brigade
