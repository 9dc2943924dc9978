#include "stages/image/index/tar_walk.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <brigade/text.h>
#include "base/arithmetic.h"

namespace brigade {
namespace {

constexpr std::uint64_t kBlockBytes = 512;
constexpr std::uint64_t kExtensionBytesMax = 1 << 20;  // of a pax header or a long name

/// A text that may fill its field or end with a zero.
std::string_view field(std::string_view header, std::size_t at, std::size_t size) {
  const std::string_view text = header.substr(at, size);
  return text.substr(0, text.find('\0'));
}

/// Octal digits between spaces and zeros, or, with the highest bit set, big-endian bytes.
std::optional<std::uint64_t> number(std::string_view bytes) {
  std::uint64_t value = 0;
  if (!bytes.empty() && (static_cast<unsigned char>(bytes[0]) & 0x80) != 0) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const auto byte = static_cast<unsigned char>(i == 0 ? bytes[i] & 0x7f : bytes[i]);
      if (value >> 55 != 0) return std::nullopt;
      value = value << 8 | byte;
    }
    return value;
  }
  std::string_view digits = bytes.substr(0, bytes.find('\0'));
  digits = trim(digits);
  for (const char digit : digits) {
    if (digit < '0' || digit > '7' || value >> 60 != 0) return std::nullopt;
    value = value << 3 | static_cast<std::uint64_t>(digit - '0');
  }
  return value;
}

/// The sum of all bytes, those of the sum itself taken as spaces; some old programs added signed.
bool checksum_is_right(std::string_view header) {
  constexpr std::size_t kAt = 148;
  constexpr std::size_t kSize = 8;
  const auto said = number(header.substr(kAt, kSize));
  std::int64_t sum = 0;
  std::int64_t signed_sum = 0;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const char byte = i >= kAt && i < kAt + kSize ? ' ' : header[i];
    sum += static_cast<unsigned char>(byte);
    signed_sum += static_cast<signed char>(byte);
  }
  return said && (static_cast<std::int64_t>(*said) == sum ||
                  static_cast<std::int64_t>(*said) == signed_sum);
}

bool is_zero(std::string_view block) {
  return std::all_of(block.begin(), block.end(), [](char byte) { return byte == '\0'; });
}

std::string_view compression(std::string_view start) {
  const std::pair<std::string_view, std::string_view> magics[] = {{"\x1f\x8b", "gzip"},
                                                                  {"\x28\xb5\x2f\xfd", "zstd"},
                                                                  {"\xfd"
                                                                   "7zXZ",
                                                                   "xz"},
                                                                  {"BZh", "bzip2"},
                                                                  {"\x04\x22\x4d\x18", "lz4"},
                                                                  {"PK\x03\x04", "zip"}};
  for (const auto& [magic, name] : magics)
    if (start.starts_with(magic)) return name;
  return "";
}

std::string own_name(std::string_view header) {
  const std::string_view name = field(header, 0, 100);
  const std::string_view prefix = field(header, 345, 155);
  if (header.substr(257, 6) != std::string_view("ustar\0", 6) || prefix.empty())
    return std::string(name);
  return concat(prefix, "/", name);
}

}  // namespace

std::string_view packed_by(std::string_view name) {
  const std::pair<std::string_view, std::string_view> ends[] = {
      {".gz", "gzip"}, {".tgz", "gzip"},  {".zst", "zstd"},   {".tzst", "zstd"}, {".xz", "xz"},
      {".txz", "xz"},  {".bz2", "bzip2"}, {".tbz2", "bzip2"}, {".lz4", "lz4"},   {".zip", "zip"}};
  for (const auto& [end, how] : ends)
    if (name.ends_with(end)) return how;
  return "";
}

Error packed_archive(std::string_view how) {
  const std::string_view command = how == "gzip"    ? "gzip -dk"
                                   : how == "zstd"  ? "zstd -d"
                                   : how == "xz"    ? "xz -dk"
                                   : how == "bzip2" ? "bzip2 -dk"
                                   : how == "lz4"   ? "lz4 -dk"
                                                    : "unzip";
  return Error{concat(
      "is compressed (", how, ") and does not allow random access; unpack it (`", command, " FILE`",
      how == "zip" ? ", and pack the files with `tar --sort=name`" : "", ") and use the .tar")};
}

Error TarWalk::broken(std::string_view what) const {
  return Error{concat("is damaged: the header at byte ", at_, " ", what)};
}

Error TarWalk::not_tar(std::string_view start) const {
  const std::string_view packed = compression(start);
  if (at_ == 0 && !packed.empty()) return packed_archive(packed);
  if (at_ == 0) return Error{"is not a tar archive"};
  if (at_ == next_archive_)
    return Error{concat("ends at byte ", end_, ", but data that is not an archive follows at byte ",
                        at_, "; cut it off (`truncate -s ", at_, "`)")};
  return broken("has a wrong checksum");
}

/// The block at at_, empty at the end of the archive.
Result<std::string_view> TarWalk::header() {
  if (at_ >= bytes_)
    return Error{bytes_ == 0 ? "is empty; even an archive without members has an end block"
                             : "has no end block; check that the download is complete"};
  BRIGADE_ASSIGN(const std::string_view block, read_(at_, kBlockBytes));
  if (block.size() < kBlockBytes) {
    if (at_ == 0) return not_tar(block);
    return Error{concat("ends in the middle of the header at byte ", at_,
                        "; check that the download is complete")};
  }
  if (is_zero(block)) return std::string_view();
  if (!checksum_is_right(block)) return not_tar(block);
  return block;
}

/// From the empty block at at_ to the block behind all empty ones; false: there is none.
Result<bool> TarWalk::find_next_archive() {
  constexpr std::size_t kBlocks = 16;
  end_ = at_;
  while (at_ < bytes_) {
    BRIGADE_ASSIGN(const std::string_view bytes, read_(at_, kBlocks * kBlockBytes));
    if (bytes.empty()) return false;
    const std::size_t other = bytes.find_first_not_of('\0');
    at_ += other == bytes.npos ? bytes.size() : other / kBlockBytes * kBlockBytes;
    next_archive_ = at_;
    if (other != bytes.npos) return true;
  }
  return false;
}

Result<std::uint64_t> TarWalk::data_size(std::string_view header) const {
  const auto size = number(header.substr(124, 12));
  if (!size) return broken("has no size");
  return *size;
}

/// The bytes behind the header at at_, which belong to the next one.
Result<std::string_view> TarWalk::extension(std::uint64_t size) {
  if (size > kExtensionBytesMax) return broken("has an extension of more than 1 MiB");
  BRIGADE_ASSIGN(const std::string_view bytes,
                 read_(at_ + kBlockBytes, static_cast<std::size_t>(size)));
  if (bytes.size() < size)
    return Error{concat("ends in the middle of the header at byte ", at_,
                        "; check that the download is complete")};
  return bytes;
}

/// Records "LENGTH KEY=VALUE\n", LENGTH being of the whole record.
Result<void> TarWalk::read_pax(std::string_view records, Extended& extended) const {
  while (!records.empty() && records[0] != '\0') {
    std::size_t length = 0;
    const auto [end, error] =
        std::from_chars(records.data(), records.data() + records.size(), length);
    const auto digits = static_cast<std::size_t>(end - records.data());
    if (error != std::errc{} || length > records.size() || length < digits + 2 ||
        records[digits] != ' ' || records[length - 1] != '\n')
      return broken("has broken pax records");
    const std::string_view record = records.substr(digits + 1, length - digits - 2);
    records.remove_prefix(length);
    const std::size_t equals = record.find('=');
    if (equals == record.npos) return broken("has broken pax records");
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = record.substr(equals + 1);
    if (key == "path") {
      extended.name = std::string(value.substr(0, value.find('\0')));
      extended.has_name = true;
    } else if (key == "size") {
      const auto parsed = std::from_chars(value.data(), value.data() + value.size(), extended.size);
      if (parsed.ec != std::errc{} || parsed.ptr != value.data() + value.size())
        return broken("has broken pax records");
      extended.has_size = true;
    } else if (key.starts_with("GNU.sparse.")) {
      extended.sparse = true;
    }
  }
  return {};
}

Result<bool> TarWalk::next(TarMember& member) {
  Extended extended;
  for (;;) {
    BRIGADE_ASSIGN(const std::string_view block, header());
    if (block.empty()) {
      BRIGADE_ASSIGN(const bool more, find_next_archive());
      if (!more) return false;
      continue;
    }
    const char type = block[156];
    BRIGADE_ASSIGN(std::uint64_t size, data_size(block));
    std::string name = own_name(block);
    const bool is_file = type == '0' || type == '\0' || type == '7';
    const bool is_pax = type == 'x' || type == 'X';  // X: of Solaris
    if (is_pax || type == 'L') {
      BRIGADE_ASSIGN(const std::string_view bytes, extension(size));
      if (is_pax) BRIGADE_TRY(read_pax(bytes, extended));
      if (type == 'L') extended.name = std::string(bytes.substr(0, bytes.find('\0')));
      if (type == 'L') extended.has_name = true;
    } else {
      // Of a link or a folder a size says something else; of a type nobody knows, what to pass
      // over.
      if (extended.has_size) size = extended.size;
      if (type >= '1' && type <= '6') size = 0;
      if (type == 'S') extended.sparse = true;
    }
    const std::uint64_t data = at_ + kBlockBytes;
    const bool of_next = is_pax || type == 'L' || type == 'K' || type == 'g';
    if (extended.has_name && !of_next) name = std::move(extended.name);
    if (size > bytes_ || data > bytes_ - size)
      return Error{
          concat("ends in the middle of ", quote(name), "; check that the download is complete")};
    if (extended.sparse && !of_next)
      return Error{concat("has ", quote(name),
                          " as a sparse member, which is not stored contiguously; ",
                          "pack it without --sparse")};
    at_ = data + round_up(size, kBlockBytes);
    if (of_next) continue;
    name_ = std::move(name);
    const bool is_folder = type == '5' || name_.empty() || name_.ends_with('/');
    member = {name_, data, size, is_file && !is_folder, is_folder};
    return true;
  }
}

}  // namespace brigade
