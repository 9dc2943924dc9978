#include "stages/torch/loss_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <brigade/text.h>
#include "base/io.h"
#include "base/shared_path.h"

namespace brigade {

Result<void> LossFile::open(const std::string& path, std::uint64_t kept) {
  if (path.empty()) return {};
  path_ = path;
  auto opened = open_to_append(path, Existing::anything);
  if (!opened) return opened.error().within("loss_file");
  file_ = std::move(*opened);
  struct stat there {};
  const bool has_size = fstat(file_.get(), &there) == 0 && S_ISREG(there.st_mode);
  bytes_ = has_size ? std::min(static_cast<std::uint64_t>(there.st_size), kept) : 0;
  if (has_size && ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0)
    return error_of_errno(concat("loss_file: cannot truncate ", path));
  if (bytes_ == 0) add("epoch,step,loss\n");
  return write();
}

void LossFile::add(std::string_view line) {
  lines_ += line;
  bytes_ += line.size();
}

Result<void> LossFile::write() {
  if (!is_open() || write_all(file_.get(), std::exchange(lines_, {}))) return {};
  return error_of_errno(concat("cannot write loss_file ", path_));
}

}  // namespace brigade
