#pragma once

// The files of sessions_test.cpp, each written by a line.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stages/detail/cache_file.h"
#include "tests/support/file_text.h"
#include "tests/support/images/idx_files.h"
#include "tests/support/images/tar_files.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/word_for_word.h"

namespace brigade::testing_support {

inline std::string archive(const std::string& what) {
  std::string out;
  for (const std::string& piece : pieces(what)) {
    const auto [said, behind] = parted(piece, "] ");
    const bool has_options = piece.starts_with("[");
    const auto [name, data] = parted(has_options ? behind : piece, "=");
    TarHeader header;
    for (const std::string& option : pieces(has_options ? said.substr(1) : "", ", ")) {
      const auto [key, text] = parted(option, "=");
      if (key == "type") header.type = unescaped(text)[0];
      if (key == "size") header.size = unescaped(text);
      if (key == "magic") header.magic = unescaped(text);
      if (key == "prefix") header.prefix = unescaped(text);
    }
    out += piece == "end"           ? tar_end()
           : piece.starts_with("+") ? unescaped(piece.substr(1))
                                    : tar_member(unescaped(name), unescaped(data), header);
  }
  return out;
}

/// A cache of three slots, of which 0 and 2 are full and 1 was dropped: a dense tensor x and a
/// ragged one. `what` may say that it is not complete, that slot 0 has too many elements, or what
/// it was made of.
inline std::string cache_file(const std::string& what) {
  CacheFileHeader header;
  header.complete = what != "not complete";
  header.slots = header.samples = 3;
  header.data_bytes = 4 * 4096;
  header.arrays = {{{"x", u8, {2}}, 4096, 2},
                   {{"r", u8, {up_to(4)}}, 8192, 64},
                   {{"r.shape", i64, {1}}, 12288, 8}};
  if (what.starts_with("made of")) header.contents = what;
  std::string data(4 * 4096, '\0');
  data[0] = data[64] = 1;
  data[32] = 2;
  data.replace(4096, 6, "ab??ef");
  data.replace(8192, 3, "xyz");
  data.replace(8192 + 128, 1, "w");
  data[12288] = what == "too many" ? 5 : 3;
  data[12288 + 16] = 1;
  auto* const slots = reinterpret_cast<std::byte*>(data.data());
  for (std::uint64_t slot = 0; slot < 3; ++slot)
    store_cache_checksum(
        slots, slot,
        cache_slot_checksum(header.arrays, slots, slot,
                            static_cast<std::uint64_t>(data[slot * kCacheSlotWordBytes])));
  return print_cache_header(header).value() + data;
}

/// Whether the verb is one that writes a file.
inline bool write_file(const TemporaryFolder& folder, std::string_view verb,
                       const std::string& name, const std::string& what) {
  constexpr std::string_view kVerbs[] = {"file", "npy",   "cache",      "gzip", "idx",
                                         "tar",  "parts", "dictionary", "cut",  "damage"};
  if (std::find(std::begin(kVerbs), std::end(kVerbs), verb) == std::end(kVerbs)) return false;
  const auto [head, data] = parted(what, " : ");
  std::string bytes;
  if (verb == "file") bytes = unescaped(what);
  if (verb == "npy") bytes = npy_header(parted(head, " ").first, parted(head, " ").second);
  if (verb == "cache") bytes = cache_file(what);
  if (verb == "gzip") bytes = file_text(folder.path() / name);
  if (verb == "idx") {
    std::vector<std::uint32_t> sizes;
    for (const std::string& size : pieces(head, " "))
      sizes.push_back(static_cast<std::uint32_t>(std::stoul(size)));
    bytes = idx_header(static_cast<int>(sizes[0]), std::span(sizes).subspan(1));
  }
  if (verb == "tar" || verb == "parts") bytes = archive(what);
  if (verb == "tar") bytes += tar_end();
  if (verb == "dictionary")
    bytes = npy_head(parted(what, " ").second, std::stoi(parted(what, " ").first));
  if (verb == "cut") bytes = file_text(folder.path() / name).substr(0, std::stoul(what));
  if (verb == "damage") {
    const std::string text = unescaped(parted(what, " ").second);
    bytes = file_text(folder.path() / name)
                .replace(std::stoul(parted(what, " ").first), text.size(), text);
  }
  if (verb == "npy" || verb == "idx") bytes += unescaped(data);
  if (verb == "gzip")
    write_gzip(folder / name, bytes);
  else
    folder.write(name, bytes);
  return true;
}

}  // namespace brigade::testing_support
