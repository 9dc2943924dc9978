#include "pipeline/state/checkpoint_files.h"

#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <optional>

#include <brigade/check.h>
#include <brigade/text.h>
#include "base/atomic_file.h"
#include "base/shared_path.h"

namespace brigade {
namespace {

bool is_there(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0;
}

Result<PositionFile> read_positions(const std::string& path) {
  BRIGADE_ASSIGN(const std::string text, read_whole_file(path));
  Result<PositionFile> file = position_from_bytes(text);
  if (!file.ok())
    return Error{concat(path, ": ", file.error().message,
                        "; delete it to restart, or run without --resume")};
  return file;
}

constexpr std::string_view kEnd = "\n}\n";  // of the JSON

std::string end_with_digest(std::string_view text) {
  return concat(",\n \"checksum\": \"", digest_of(text), "\"", kEnd);
}

/// The digest of what is saved; empty: nothing is there.
Result<std::string> saved_digest(const std::string& path) {
  if (path.empty() || !is_there(path)) return std::string();
  BRIGADE_ASSIGN(const std::string bytes, read_whole_file(path));
  return digest_of(bytes);
}

}  // namespace

std::string digest_of(std::string_view bytes) {
  std::uint64_t hash = XXH3_64bits(bytes.data(), bytes.size());
  std::string digits(16, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, hash >>= 4)
    *digit = "0123456789abcdef"[hash & 15];
  return concat(bytes.size(), " bytes, xxh3 ", digits);
}

std::string position_to_bytes(const PositionFile& file) {
  std::string text = position_to_json(file);
  BRIGADE_CHECK(text.ends_with(kEnd), text);
  text.resize(text.size() - kEnd.size());
  return text + end_with_digest(text);
}

Result<PositionFile> position_from_bytes(std::string_view bytes) {
  Result<PositionFile> file = position_from_json(bytes);
  if (!file) return file;  // its version, perhaps
  const std::string_view text = bytes.substr(0, bytes.rfind(",\n"));
  if (bytes.substr(text.size()) != end_with_digest(text))
    return Error{"it is damaged: its checksum does not match"};
  return file;
}

Result<void> write_checkpoint(const std::string& saved_file, std::string_view saved,
                              const std::string& position_file, PositionFile file) {
  Position now = file.entries.front();
  std::optional<NewFile> made;
  file.entries.clear();
  if (!saved_file.empty()) {
    now.digest = digest_of(saved);
    auto created = NewFile::create(saved_file);
    if (!created) return created.error();
    made.emplace(std::move(*created));
    BRIGADE_TRY(made->write(saved));
    BRIGADE_TRY(made->sync());
    // Until the saved bytes are replaced, too, what is there now holds; the first time, nothing.
    if (const auto before = read_checkpoint(saved_file, position_file); before.ok())
      file.entries = before->entries;
    if (file.entries.empty() && !is_there(saved_file)) file.entries.emplace_back();
  }
  file.entries.insert(file.entries.begin(), std::move(now));
  BRIGADE_TRY(write_file_atomically(position_file, position_to_bytes(file)));
  return made ? made->publish() : Result<void>();
}

Result<PositionFile> read_checkpoint(const std::string& saved_file,
                                     const std::string& position_file) {
  if (!is_there(position_file)) {
    if (saved_file.empty() || !is_there(saved_file)) return PositionFile();
    return Error{concat(saved_file, " has no position file: ", position_file,
                        " is missing; restore it, or delete the checkpoint")};
  }
  BRIGADE_ASSIGN(PositionFile file, read_positions(position_file));
  BRIGADE_ASSIGN(const std::string digest, saved_digest(saved_file));
  std::erase_if(file.entries, [&](const Position& entry) { return entry.digest != digest; });
  if (!file.entries.empty()) {
    if (file.entries.front().queues.empty()) return PositionFile();
    file.entries.resize(1);
    return file;
  }
  if (digest.empty() && !saved_file.empty())
    return Error{concat(position_file, " exists, but ", saved_file,
                        ", to which it belongs, does not; restore it, or delete both")};
  return Error{concat(position_file, " does not belong to ",
                      saved_file.empty() ? "a consumer that saves nothing" : saved_file,
                      ", which something else wrote; delete it to restart")};
}

}  // namespace brigade
