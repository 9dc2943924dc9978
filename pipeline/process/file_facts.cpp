#include "pipeline/process/file_facts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/owned_fd.h"
#include "base/text.h"

namespace brigade {
namespace {

/// Bytes by which gzip may be longer than what it holds: header with a file name, block headers.
constexpr std::size_t kGzipBytesMore = 4096;

Error system_error() {
  switch (errno) {
    case ENOENT:
      return Error{"no such file"};
    case EACCES:
      return Error{"permission denied"};
    case EMFILE:
    case ENFILE:
      return Error{"too many open files; raise the limit with `ulimit -n`"};
    default:
      return Error{std::strerror(errno)};
  }
}

// At most `most` bytes from the start.
Result<std::string> read_start(int fd, std::size_t most) {
  std::string bytes(most, '\0');
  std::size_t have = 0;
  while (have < most) {
    const ssize_t count = ::read(fd, bytes.data() + have, most - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error();
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  bytes.resize(have);
  return bytes;
}

bool is_gzip(const std::string& bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

// The start of what `packed`, the start of a gzip file, unpacks to. A packed start may end in the
// middle of the data; so may the file, which only reading it whole can tell.
Result<std::string> unpack_start(std::string packed) {
  z_stream stream{};
  constexpr int kGzipOnly = 16;
  if (inflateInit2(&stream, MAX_WBITS + kGzipOnly) != Z_OK) return Error{"zlib does not start"};
  std::string bytes(kFactBytesMax, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  int status = Z_OK;
  while (status == Z_OK && stream.avail_out > 0 && stream.avail_in > 0) {
    status = inflate(&stream, Z_SYNC_FLUSH);
  }
  const std::size_t have = bytes.size() - stream.avail_out;
  inflateEnd(&stream);
  if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
    return Error{"damaged gzip data"};
  }
  if (have == 0 && status != Z_STREAM_END) return Error{"the gzip data ends too early"};
  bytes.resize(have);
  return bytes;
}

}  // namespace

PathKind FileFacts::kind(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    return errno == EACCES ? PathKind::forbidden : PathKind::missing;
  }
  if (S_ISREG(status.st_mode)) return PathKind::file;
  return S_ISDIR(status.st_mode) ? PathKind::folder : PathKind::other;
}

Result<FileFact> FileFacts::read(const std::string& path) {
  // Not blocking: opening a pipe that nobody writes to would wait for ever.
  const OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return system_error();
  struct stat status;
  if (fstat(file.get(), &status) != 0) return system_error();
  if (S_ISDIR(status.st_mode)) return Error{"it is a folder, not a file"};
  if (!S_ISREG(status.st_mode)) return Error{"it is a pipe or a device, not a file"};
  FileFact fact;
  fact.file_bytes = static_cast<std::uint64_t>(status.st_size);
  BRIGADE_ASSIGN(fact.header, read_start(file.get(), kFactBytesMax + kGzipBytesMore));
  if (is_gzip(fact.header)) {
    BRIGADE_ASSIGN(fact.header, unpack_start(std::move(fact.header)));
  }
  fact.header.resize(std::min(fact.header.size(), kFactBytesMax));
  return fact;
}

}  // namespace brigade
