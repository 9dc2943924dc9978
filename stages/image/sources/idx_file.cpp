#include "stages/image/sources/idx_file.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include <brigade/text.h>
#include "base/io.h"
#include "stages/api/file_length.h"

namespace brigade {
namespace {

constexpr std::size_t kHeadBytesMax = 4 + 4 * 255;
constexpr unsigned kReadBytesMax = 1u << 26;  // of one gzread
constexpr unsigned kInflateBufferBytes = 1u << 17;

std::optional<DType> dtype_of_code(std::uint8_t code) {
  switch (code) {
    case 0x08:
      return DType::u8;
    case 0x09:
      return DType::i8;
    case 0x0b:
      return DType::i16;
    case 0x0c:
      return DType::i32;
    case 0x0d:
      return DType::f32;
    case 0x0e:
      return DType::f64;
    default:
      return std::nullopt;
  }
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (char character : bytes) {
    const auto byte = static_cast<std::uint8_t>(character);
    if (!out.empty()) out += ' ';
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

std::int64_t big_endian_u32(std::string_view bytes) {
  std::int64_t value = 0;
  for (char character : bytes) value = value << 8 | static_cast<std::uint8_t>(character);
  return value;
}

class GzipFile {
 public:
  explicit GzipFile(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb")) {
    if (file_ == nullptr) open_error_ = errno;
    if (file_ != nullptr) gzbuffer(file_, kInflateBufferBytes);
  }
  ~GzipFile() {
    if (file_ != nullptr) gzclose(file_);
  }
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  /// Not gzipped, and a file that can be mapped. Known once something was read.
  bool is_plain() const {
    struct stat status {};
    return gzdirect(file_) == 1 && stat(path_.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  }

  /// Up to `size` bytes; fewer only at the end of the file.
  Result<std::size_t> read(void* out, std::size_t size) {
    if (file_ == nullptr) return error_of_errno(concat(path_, ": cannot open"), open_error_);
    std::size_t done = 0;
    while (done < size) {
      const auto want = static_cast<unsigned>(std::min<std::size_t>(size - done, kReadBytesMax));
      const int got = gzread(file_, static_cast<char*>(out) + done, want);
      if (got < 0) return broken();
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    int code = Z_OK;
    if (done < size) gzerror(file_, &code);
    if (code == Z_BUF_ERROR)
      return Error{
          concat(path_, ": the gzip data ends early; check that the download is complete")};
    return done;
  }

 private:
  Error broken() {
    const int system_error = errno;
    int code = Z_OK;
    const std::string message = gzerror(file_, &code);
    if (code == Z_ERRNO) return error_of_errno(concat(path_, ": cannot read"), system_error);
    // zlib's own message begins with the path.
    const auto reason = strip_prefix(message, concat(path_, ": "));
    return Error{concat(path_, ": broken gzip data: ", reason.value_or(message))};
  }

  std::string path_;
  gzFile file_;
  int open_error_ = 0;
};

/// Its beginning as the plan knows it, without the bytes.
FileHeader length_of(const std::string& path, bool is_gzip) {
  struct stat status {};
  const std::uint64_t disk_bytes = stat(path.c_str(), &status) == 0 ? status.st_size : 0;
  return {"", disk_bytes, is_gzip};
}

Result<IdxHeader> read_header(const std::string& path, GzipFile& file) {
  std::string head(4, '\0');
  BRIGADE_ASSIGN(const std::size_t got, file.read(head.data(), 4));
  head.resize(got);
  if (got == 4) {
    head.resize(4 + 4 * static_cast<std::size_t>(static_cast<std::uint8_t>(head[3])));
    BRIGADE_ASSIGN(const std::size_t sizes, file.read(head.data() + 4, head.size() - 4));
    head.resize(4 + sizes);
  }
  return parse_idx_header(path, head);
}

}  // namespace

Result<IdxHeader> parse_idx_header(const std::string& path, std::string_view head) {
  if (head.size() < 4)
    return Error{concat(path, ": not an IDX file: it has only ", head.size(), " bytes")};
  const auto dtype = dtype_of_code(static_cast<std::uint8_t>(head[2]));
  const int rank = static_cast<std::uint8_t>(head[3]);
  if (head[0] != 0 || head[1] != 0 || !dtype || rank == 0)
    return Error{concat(path, ": not an IDX file: it begins with ", hex(head.substr(0, 4)),
                        "; images begin with 00 00 08 03, labels with 00 00 08 01")};
  if (rank > kRankMax)
    return Error{concat(path, ": ", rank, " dimensions; at most ", kRankMax, " are supported")};
  IdxHeader header{*dtype, {}, 4 + 4 * static_cast<std::size_t>(rank)};
  if (head.size() < header.bytes)
    return Error{concat(path, ": ends in the middle of its header, after ", head.size(), " bytes")};
  for (int i = 0; i < rank; ++i)
    header.shape.push_back(big_endian_u32(head.substr(4 + 4 * static_cast<std::size_t>(i), 4)));
  return header;
}

std::uint64_t IdxHeader::data_bytes() const {
  std::uint64_t all = dtype_bytes(dtype);
  bool fits = true;
  for (const std::int64_t size : shape)
    fits &= !__builtin_mul_overflow(all, static_cast<std::uint64_t>(size), &all);
  return fits ? all : ~std::uint64_t{0};
}

Result<void> check_idx_length(const std::string& path, const FileHeader& file,
                              const IdxHeader& header) {
  return check_length(path, file, header.bytes, header.data_bytes(), shape_text(header.shape));
}

Result<IdxData> read_idx_file(const std::string& path) {
  GzipFile file(path);
  IdxData data;
  BRIGADE_ASSIGN(data.header, read_header(path, file));
  if (data.header.dtype != DType::u8)
    return Error{concat(path, ": holds ", dtype_name(data.header.dtype), " elements; expected u8")};
  const std::uint64_t bytes = data.header.data_bytes();
  if (file.is_plain()) {
    BRIGADE_ASSIGN(data.file, MappedFile::open(path));
    const std::string_view all = data.file.bytes();
    BRIGADE_TRY(check_idx_length(path, {"", all.size()}, data.header));
    data.bytes = reinterpret_cast<const std::uint8_t*>(all.data()) + data.header.bytes;
    return data;
  }
  BRIGADE_TRY(check_idx_length(path, length_of(path, true), data.header));
  data.memory = std::make_unique_for_overwrite<std::uint8_t[]>(bytes + 1);
  BRIGADE_ASSIGN(const std::size_t got, file.read(data.memory.get(), bytes + 1));
  data.bytes = data.memory.get();
  BRIGADE_TRY(check_idx_length(path, {"", data.header.bytes + got}, data.header));
  return data;
}

}  // namespace brigade
