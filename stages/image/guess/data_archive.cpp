#include "stages/image/guess/data_archive.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <typeinfo>
#include <vector>

#include <brigade/text.h>
#include "base/io.h"
#include "base/owned_fd.h"
#include "stages/api/file_patterns.h"
#include "stages/image/index/class_names.h"
#include "stages/image/index/image_index.h"
#include "stages/image/index/json_field.h"
#include "stages/image/index/shard_scan.h"
#include "stages/image/index/tar_index.h"
#include "stages/image/index/tar_walk.h"
#include "stages/image/index/unread_keys.h"
#include "stages/image/sources/tar_shards_params.h"

namespace brigade {
namespace {

constexpr std::size_t kMembersMax = 64;
constexpr std::size_t kLabelBytesMax = 64 << 10;
constexpr std::string_view kJsonFields[] = {"label", "cls", "class", "class_id", "target"};

bool is_word(std::string_view text) {
  const auto name = parse_class_name(text);
  return name && name->find(' ') == name->npos;
}

class ArchiveLook {
 public:
  explicit ArchiveLook(const std::string& path)
      : path_(path), fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}

  Result<ArchiveGuess> run() {
    struct stat status {};
    if (fd_.get() < 0 || fstat(fd_.get(), &status) != 0)
      return error_of_errno(concat(path_, ": cannot open"));
    if (!S_ISREG(status.st_mode)) return Error{concat(path_, ": expected a regular file")};
    TarWalk walk([this](std::uint64_t offset, std::size_t size) { return read(offset, size); },
                 static_cast<std::uint64_t>(status.st_size));
    TarMember member;
    for (std::size_t i = 0; i < kMembersMax; ++i) {
      auto more = walk.next(member);
      if (!more) return more.error().within(path_);
      if (!*more) break;
      if (member.is_file) BRIGADE_TRY(note(member));
    }
    if (has_image_) return guess_;
    return Error{concat(path_, ": has no images among its first members; extensions found: ",
                        extensions_.empty() ? "none" : concat(".", join(extensions_, ", .")))};
  }

 private:
  Result<std::string_view> read(std::uint64_t offset, std::size_t size) {
    bytes_.resize(size);
    const ssize_t got = read_all_at(fd_.get(), bytes_.data(), size, offset);
    if (got < 0) return error_of_errno("cannot read");
    return std::string_view(bytes_).substr(0, static_cast<std::size_t>(got));
  }

  Result<void> note(const TarMember& member) {
    const std::string extension = split_tar_name(member.name).extension;
    if (extension.empty() ||
        std::find(extensions_.begin(), extensions_.end(), extension) != extensions_.end())
      return {};
    extensions_.push_back(extension);
    const std::string last = extension.substr(extension.rfind('.') + 1);
    if (!has_image_ && is_image_name(concat("k.", last))) {
      has_image_ = true;
      if (last != extension) guess_.image = extension;
    }
    if (last == "cls" || (last == "txt" && guess_.label.empty())) {
      BRIGADE_ASSIGN(const std::string_view text,
                     read(member.offset, std::min<std::uint64_t>(member.size, kLabelBytesMax)));
      // A text that is more than a word describes its image.
      if (last == "txt" && !parse_label(text) && !is_word(text)) return {};
      guess_.label = extension;
      guess_.label_field.clear();
      guess_.label_is_name = !parse_label(text) && parse_class_name(text);
    } else if (last == "json" && guess_.label.empty() && member.size <= kLabelBytesMax) {
      BRIGADE_ASSIGN(const std::string_view text, read(member.offset, member.size));
      for (const std::string_view field : kJsonFields) {
        const bool number = json_integer(text, field).ok();
        if (!guess_.label.empty() || (!number && !json_text(text, field))) continue;
        guess_.label = extension;
        guess_.label_field = field;
        guess_.label_is_name = !number;
      }
    }
    return {};
  }

  const std::string& path_;
  OwnedFd fd_;
  std::string bytes_;
  std::vector<std::string> extensions_;
  ArchiveGuess guess_;
  bool has_image_ = false;
};

/// The first label that is no number where numbers are wanted.
Result<void> check_first_labels(const std::string& shard, const ShardScan& scan,
                                const TarFields& fields) {
  for (const TarSample& sample : scan.samples) {
    if (fields.names || sample.state != static_cast<std::uint8_t>(TarState::bad_label)) continue;
    const OwnedFd fd(open(shard.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    std::string text(sample.size, '\0');
    const ssize_t got = read_all_at(fd.get(), text.data(), text.size(), sample.offset);
    if (got < 0 || static_cast<std::size_t>(got) != text.size()) return {};
    const std::string& extension = fields.label[static_cast<std::size_t>(sample.label)];
    const std::string_view key =
        std::string_view(scan.keys).substr(sample.key_at, sample.key_bytes);
    if (auto label = label_number(text, extension, fields); !label)
      return label.error().within(concat(shard, ": ", key, ".", extension));
  }
  return {};
}

}  // namespace

Result<ArchiveGuess> look_at_archive(const std::string& path) { return ArchiveLook(path).run(); }

Result<void> check_first_members(const StageContract& contract, const void* params,
                                 bool reads_all) {
  if (contract.params_type != std::string_view(typeid(TarShardsParams).name())) return {};
  const auto& given = *static_cast<const TarShardsParams*>(params);
  BRIGADE_ASSIGN(const TarFields fields, tar_fields_of(given));
  BRIGADE_ASSIGN(const std::vector<std::string> shards, list_files(given.shards.patterns));
  std::size_t members = 0;
  bool has_samples = false;
  UnreadKeys unread;
  SkipTally skipped;
  for (const std::string& shard : shards) {
    if (members >= kMembersMax) return {};
    BRIGADE_ASSIGN(const ShardScan scan, scan_shard(shard, fields, nullptr, kMembersMax - members));
    members += std::max<std::size_t>(scan.members, 1);
    unread.add(scan.unread);
    skipped.add(scan.skipped);
    has_samples = has_samples || !scan.samples.empty();
    if (reads_all) BRIGADE_TRY(check_first_labels(shard, scan, fields));
    if (!scan.whole) return {};
  }
  if (has_samples) return {};
  return TarIndex::no_samples(shards, fields, unread, skipped.list());
}

}  // namespace brigade
