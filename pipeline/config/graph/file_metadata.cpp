#include "pipeline/config/graph/file_metadata.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <brigade/text.h>
#include "base/io.h"
#include "base/owned_fd.h"

namespace brigade {
namespace {

/// Bytes by which gzip may be longer than what it holds: header with a file name, block headers.
constexpr std::size_t kGzipBytesMore = 4096;
constexpr int kLinksMax = 40;  // that Linux follows on a path

Error system_error() {
  if (errno == ENOENT) return Error{"no such file"};
  if (errno == EACCES) return Error{"permission denied"};
  if (errno == EMFILE || errno == ENFILE)
    return Error{"too many open files; raise the limit with `ulimit -n`"};
  return Error{errno_text()};
}

bool is_gzip(const std::string& bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

// The start of what `packed`, the start of a gzip file, unpacks to. A packed start may end in the
// middle of the data; so may the file, which only reading it whole can tell.
Result<std::string> unpack_start(std::string packed) {
  z_stream stream{};
  constexpr int kGzipOnly = 16;
  if (inflateInit2(&stream, MAX_WBITS + kGzipOnly) != Z_OK)
    return Error{"zlib cannot be initialized"};
  std::string bytes(kMetadataBytesMax, '\0');
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

PathKind FileMetadataProbe::kind(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    return errno == EACCES ? PathKind::forbidden : PathKind::missing;
  }
  if (S_ISREG(status.st_mode)) return PathKind::file;
  return S_ISDIR(status.st_mode) ? PathKind::folder : PathKind::other;
}

bool FileMetadataProbe::may_execute(const std::string& path) {
  return access(path.c_str(), X_OK) == 0;
}

std::optional<std::string> FileMetadataProbe::find_program(const std::string& name) {
  const char* const folders = std::getenv("PATH");
  for (const std::string_view folder : split(folders != nullptr ? folders : "", ':')) {
    std::string path = concat(folder, "/", name);
    if (folder.starts_with('/') && kind(path) == PathKind::file && may_execute(path)) return path;
  }
  return std::nullopt;
}

Result<FolderNames> FileMetadataProbe::list(const std::string& path, std::size_t names_max) {
  FolderNames out;
  std::error_code error;
  std::filesystem::directory_iterator entry(path, error);
  for (const std::filesystem::directory_iterator end; !error && entry != end;
       entry.increment(error)) {
    if (out.names.size() == names_max) return out;
    std::error_code ignored;  // a link to nothing is no folder
    out.names.push_back({entry->path().filename().string(), entry->is_directory(ignored)});
  }
  if (error) return Error{concat("cannot read the folder: ", error.message())};
  out.all = true;
  return out;
}

std::optional<std::string> FileMetadataProbe::descriptor_behind(const std::string& path) {
  std::filesystem::path at(path);
  const std::string mine = concat("/proc/", getpid(), "/");
  for (int links = 0; links < kLinksMax; ++links) {
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::canonical(at.parent_path(), error);
    if (error) return std::nullopt;
    if (folder.string().starts_with(mine) && folder.filename() == "fd")
      return concat("/proc/self/fd/", at.filename().string());
    const std::filesystem::path target =
        std::filesystem::read_symlink(folder / at.filename(), error);
    if (error) return std::nullopt;  // no link
    at = (folder / target).lexically_normal();
  }
  return std::nullopt;
}

Result<FileHeader> FileMetadataProbe::read(const std::string& path) {
  // Not blocking: opening a pipe that nobody writes to would wait for ever.
  const OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return system_error();
  struct stat status;
  if (fstat(file.get(), &status) != 0) return system_error();
  if (S_ISDIR(status.st_mode)) return Error{"it is a folder, not a file"};
  if (!S_ISREG(status.st_mode)) return Error{"it is a pipe or a device, not a file"};
  FileHeader file_header;
  file_header.file_bytes = static_cast<std::uint64_t>(status.st_size);
  auto start = read_start(file.get(), kMetadataBytesMax + kGzipBytesMore);
  if (!start) return system_error();
  file_header.header = *std::move(start);
  file_header.is_gzip = is_gzip(file_header.header);
  if (file_header.is_gzip) {
    BRIGADE_ASSIGN(file_header.header, unpack_start(std::move(file_header.header)));
  }
  file_header.header.resize(std::min(file_header.header.size(), kMetadataBytesMax));
  return file_header;
}

}  // namespace brigade
