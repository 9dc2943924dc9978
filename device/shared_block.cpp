#include "device/shared_block.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <brigade/text.h>
#include "base/arithmetic.h"
#include "base/io.h"

namespace brigade {
namespace {

constexpr std::uint64_t kBlockAlignment = 4096;  // of a page
constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

}  // namespace

Result<OwnedFd> make_shared_block(std::uint64_t bytes) {
  OwnedFd fd(memfd_create("brigade-device", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (fd.get() < 0) return error_of_errno("cannot create shared memory");
  const auto whole = static_cast<off_t>(round_up(bytes, kBlockAlignment));
  if (ftruncate(fd.get(), whole) != 0 || fcntl(fd.get(), F_ADD_SEALS, kSizeSeals) != 0)
    return error_of_errno(concat("cannot create ", bytes, " bytes of shared memory"));
  return fd;
}

Result<Mapping> map_shared_block(int fd, std::uint64_t bytes, MapMode mode) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return error_of_errno("cannot map shared memory");
  const std::uint64_t whole = round_up(bytes, kBlockAlignment);
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kSizeSeals) != kSizeSeals ||
      static_cast<std::uint64_t>(status.st_size) != whole)
    return Error{concat("expected shared memory of ", whole, " bytes, found ",
                        seals < 0 ? "memory of another kind" : concat(status.st_size, " bytes"))};
  const FilePart part{fd, 0, whole};
  BRIGADE_ASSIGN(Mapping mapping, Mapping::of({&part, 1}, mode));
  BRIGADE_TRY(mapping.keep_to_this_process());
  return mapping;
}

}  // namespace brigade
