#include "pipeline/cli/commands/summary_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <brigade/text.h>
#include "base/io.h"
#include "base/shared_path.h"

namespace brigade {
namespace {

constexpr const char* kWhat = "the summary";
constexpr const char* kStandardOutput = "-";

bool is_no_file(const std::string& path) {
  struct stat there;
  return lstat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode);
}

}  // namespace

Result<SummaryFile> SummaryFile::open(const std::string& path) {
  SummaryFile summary;
  summary.path_ = path;
  if (path.empty()) return summary;
  if (path == kStandardOutput) {
    summary.other_.reset(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
  } else if (is_no_file(path)) {
    auto opened = open_shared_path(path, O_WRONLY, 0644, Existing::anything);
    if (!opened) return opened.error().within(kWhat);
    summary.other_ = std::move(*opened);
  } else {
    auto made = NewFile::create(path);
    if (!made) return made.error().within(kWhat);
    summary.file_.emplace(std::move(*made));
  }
  return summary;
}

Result<void> SummaryFile::write(std::string_view json) {
  if (path_.empty()) return {};
  if (file_) {
    BRIGADE_TRY(file_->write(json));
    return file_->publish();
  }
  struct stat there;
  const bool regular = fstat(other_.get(), &there) == 0 && S_ISREG(there.st_mode);
  const bool emptied = !regular || path_ == kStandardOutput || ftruncate(other_.get(), 0) == 0;
  if (emptied && write_all(other_.get(), json)) return {};
  return error_of_errno(concat("cannot write ", path_)).within(kWhat);
}

}  // namespace brigade
