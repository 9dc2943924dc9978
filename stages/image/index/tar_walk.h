#pragma once

// The members of an uncompressed tar archive, one by one, with the place of their bytes
// in it: of POSIX ustar and pax, GNU tar (long names, large numbers) and the old format.
// It reads headers and the extension records of pax and GNU, never a member's own bytes.
// Formats after the POSIX.1-2017 page of pax and GNU tar's manual, "Basic Tar Format".
//
//   TarWalk walk(read, file_bytes);
//   TarMember member;
//   for (;;) { BRIGADE_ASSIGN(const bool more, walk.next(member)); if (!more) break; ... }
//
// Errors do not name the archive. The bytes are untrusted. One thread.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <brigade/result.h>

namespace brigade {

struct TarMember {
  std::string_view name;  ///< as it stands there; until the next call of next()
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  bool is_file = false;
  bool is_folder = false;  ///< neither: a link, a device
};

/// "gzip", "zstd", ...: how an archive of that name is compressed; empty: it is not.
std::string_view packed_by(std::string_view name);
/// After the archive's name: "is compressed (gzip), so ...", with the command that unpacks it.
Error packed_archive(std::string_view how);

class TarWalk {
 public:
  /// Gives bytes [offset, offset + size) of the archive, fewer only at its end; they last until the
  /// next call.
  using Read = std::function<Result<std::string_view>(std::uint64_t offset, std::size_t size)>;

  TarWalk(Read read, std::uint64_t file_bytes) : read_(std::move(read)), bytes_(file_bytes) {}

  /// False at the end of the archive, or of the last of several that were written one behind the
  /// other (`cat a.tar b.tar`). Errors: what is no tar archive, or is compressed; one that ends too
  /// early, or without the empty block that ends archives, or goes on behind it with something
  /// else; a broken header; a sparse member, whose bytes do not lie side by side.
  Result<bool> next(TarMember& member);

 private:
  struct Extended {  // what precedes a header and overrides it
    std::string name;
    bool has_name = false;
    std::uint64_t size = 0;
    bool has_size = false;
    bool sparse = false;
  };

  Result<std::string_view> header();
  Result<bool> find_next_archive();
  Result<std::uint64_t> data_size(std::string_view header) const;
  Result<std::string_view> extension(std::uint64_t size);
  Result<void> read_pax(std::string_view records, Extended& extended) const;
  Error broken(std::string_view what) const;
  Error not_tar(std::string_view start) const;

  Read read_;
  std::uint64_t bytes_;
  std::uint64_t at_ = 0;   // of the next header
  std::uint64_t end_ = 0;  // of the archive before
  std::uint64_t next_archive_ = 0;
  std::string name_;
};

}  // namespace brigade
