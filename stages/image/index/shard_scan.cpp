#include "stages/image/index/shard_scan.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>

#include <brigade/text.h>
#include "base/io.h"
#include "base/owned_fd.h"
#include "stages/image/index/json_field.h"
#include "stages/image/index/made_from.h"

namespace brigade {
namespace {

constexpr std::size_t kWindowBytes = 8 << 10;  // a header, what is small, and the next header
constexpr std::uint64_t kLabelBytesMax = 64 << 10;
constexpr std::uint64_t kJsonBytesMax = 16 << 20;
constexpr std::size_t kExtensionsKept = 8;

/// Reads a file through a window that is kept.
class ShardFile {
 public:
  Result<void> open(const std::string& path, ShardScan& scan) {
    fd_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (fd_.get() < 0 || fstat(fd_.get(), &status) != 0) return error_of_errno("cannot open");
    if (!S_ISREG(status.st_mode)) return Error{"expected a regular file"};
    scan.bytes = static_cast<std::uint64_t>(status.st_size);
    scan.changed_ns = changed_ns(status);
    // Only headers are wanted; reading on behind each would read the whole archive.
    posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_RANDOM);
    return {};
  }

  Result<std::string_view> read(std::uint64_t offset, std::size_t size) {
    if (offset < at_ || offset - at_ > have_ || have_ - (offset - at_) < size)
      BRIGADE_TRY(fill(offset, std::max(size, kWindowBytes)));
    const auto skip = static_cast<std::size_t>(offset - at_);
    return std::string_view(window_.get() + skip, std::min(size, have_ - skip));
  }

 private:
  Result<void> fill(std::uint64_t offset, std::size_t size) {
    if (size > capacity_) window_ = std::make_unique_for_overwrite<char[]>(size);
    capacity_ = std::max(capacity_, size);
    at_ = offset;
    have_ = 0;
    const ssize_t got = read_all_at(fd_.get(), window_.get(), size, offset);
    if (got < 0) return error_of_errno("cannot read");
    have_ = static_cast<std::size_t>(got);
    return {};
  }

  OwnedFd fd_;
  std::unique_ptr<char[]> window_;
  std::size_t capacity_ = 0;
  std::uint64_t at_ = 0;
  std::size_t have_ = 0;
};

/// "__meta__/x.json": what WebDataset takes for data about the archive.
bool is_metadata(std::string_view member) {
  const std::string_view first = member.substr(0, member.find('/'));
  return first.size() >= 4 && first.starts_with("__") && first.ends_with("__");
}

class Scan {
 public:
  Scan(TarWalk::Read read, std::uint64_t bytes, const TarFields& fields, const ClassNames* classes,
       std::size_t members_max)
      : read_(std::move(read)),
        fields_(fields),
        classes_(classes),
        members_max_(members_max),
        walk_(read_, bytes) {
    out_.extras.resize(fields.extra.size());
  }

  Result<ShardScan> run() {
    TarMember member;
    for (;;) {
      BRIGADE_ASSIGN(const bool more, walk_.next(member));
      if (!more) break;
      out_.whole = out_.members < members_max_;
      if (!out_.whole) break;
      ++out_.members;
      if (member.is_folder) continue;
      const TarName name = split_tar_name(member.name);
      if (is_metadata(member.name)) {
        out_.skipped.add(SkipReason::hidden, "metadata members", member.name);
        continue;
      }
      if (!member.is_file || name.extension.empty()) {
        pass_over(member, name);
        continue;
      }
      if (name.key != key_) {
        BRIGADE_TRY(end_sample());
        key_ = std::string(name.key);
      }
      BRIGADE_TRY(add(member, name.extension));
    }
    if (out_.whole) BRIGADE_TRY(end_sample());
    BRIGADE_TRY(check_unique());
    return std::move(out_);
  }

 private:
  void pass_over(const TarMember& member, const TarName& name) {
    const std::string_view last = member.name.substr(member.name.rfind('/') + 1);
    if (!member.is_file) {
      const std::string extension = name.extension.empty() ? "" : concat(".", name.extension);
      out_.skipped.add(SkipReason::no_file, "links and devices", extension);
    } else if (last.starts_with('.')) {
      out_.skipped.add(SkipReason::hidden, "hidden members");
    } else {
      out_.skipped.add(SkipReason::no_match, "members without an extension", last);
    }
  }

  Result<void> add(const TarMember& member, const std::string& extension) {
    if (extensions_.size() < kExtensionsKept) extensions_.push_back(extension);
    bool is_read = false;
    const TarPlace place{member.offset, member.size};
    const auto image = std::find(fields_.image.begin(), fields_.image.end(), extension);
    if (image != fields_.image.end()) {
      is_read = true;
      if (image_.offset != 0) return two_images(extension);
      image_ = place;
      which_ = static_cast<std::size_t>(image - fields_.image.begin());
    }
    const auto label = std::find(fields_.label.begin(), fields_.label.end(), extension);
    if (label != fields_.label.end()) {
      is_read = true;
      const auto which = static_cast<std::size_t>(label - fields_.label.begin());
      if (label_.offset != 0 && which == which_label_) return twice(extension);
      if (label_.offset == 0 || which < which_label_) {
        label_ = place;
        which_label_ = which;
      }
    }
    for (std::size_t e = 0; e < fields_.extra.size(); ++e) {
      if (extension != fields_.extra[e]) continue;
      is_read = true;
      extras_.resize(fields_.extra.size());
      if (extras_[e].offset != 0) return twice(extension);
      extras_[e] = place;
    }
    if (!is_read && others_.size() < kExtensionsKept) others_.push_back(extension);
    return {};
  }

  Error twice(std::string_view extension) const {
    return Error{concat("has ", quote(concat(key_, ".", extension)), " twice")};
  }
  Error two_images(std::string_view extension) const {
    if (extension == fields_.image[which_]) return twice(extension);
    return Error{concat("has two images for ", quote(key_), ", .", fields_.image[which_], " and .",
                        extension, "; `image: [", fields_.image[which_], "]` selects one of them")};
  }

  /// What has neither an image nor a label is no sample.
  Result<void> end_sample() {
    const bool is_sample = image_.offset != 0 || label_.offset != 0;
    if (is_sample) {
      if (image_.offset != 0) out_.unread.add_image(fields_.image[which_]);
      out_.unread.add_members(others_);
      TarSample sample{};
      sample.offset = image_.offset;
      sample.image = static_cast<std::uint8_t>(which_);
      sample.key_at = out_.keys.size();
      sample.key_bytes = static_cast<std::uint16_t>(key_.size());
      if (key_.size() > std::numeric_limits<std::uint16_t>::max() ||
          image_.size > std::numeric_limits<std::uint32_t>::max())
        return Error{
            concat("has ", quote(key_.substr(0, 80)), ", which is too large for the index")};
      sample.size = static_cast<std::uint32_t>(image_.size);
      BRIGADE_TRY(judge(sample));
      out_.keys += key_;
      out_.samples.push_back(sample);
      extras_.resize(fields_.extra.size());
      for (std::size_t e = 0; e < extras_.size(); ++e) out_.extras[e].push_back(extras_[e]);
    } else if (!extensions_.empty()) {
      out_.unread.add_key(extensions_);
    }
    extensions_.clear();
    others_.clear();
    image_ = label_ = {};
    which_ = which_label_ = 0;
    extras_.clear();
    return {};
  }

  Result<void> judge(TarSample& sample) {
    const auto set = [&sample](TarState state) { sample.state = static_cast<std::uint8_t>(state); };
    set(TarState::good);
    if (image_.offset == 0) set(TarState::no_image);
    if (image_.offset != 0 && image_.size == 0) set(TarState::empty_image);
    if (fields_.label.empty() || sample.state != static_cast<std::uint8_t>(TarState::good))
      return {};
    if (label_.offset == 0) {
      set(TarState::no_label);
      return {};
    }
    const bool json = is_json_name(fields_.label[which_label_]);
    if (label_.size <= (json ? kJsonBytesMax : kLabelBytesMax)) {
      BRIGADE_ASSIGN(const std::string_view text,
                     read_(label_.offset, static_cast<std::size_t>(label_.size)));
      const auto label = fields_.names ? number_of(text, json)
                         : json        ? json_integer(text, fields_.label_field)
                                       : parse_label(text);
      if (label) sample.label = *label;
      if (label) return {};
      if (names_.size() > kClassNamesMax) return label.error();
    }
    set(TarState::bad_label);
    sample.label = static_cast<std::int64_t>(which_label_);
    sample.offset = label_.offset;
    sample.size =
        static_cast<std::uint32_t>(std::min(label_.size, json ? kJsonBytesMax : kLabelBytesMax));
    return {};
  }

  /// Of a label that is a name: of its class, or which of the names it is.
  Result<std::int64_t> number_of(std::string_view text, bool json) {
    std::string of_json;
    if (json) {
      BRIGADE_ASSIGN(of_json, json_text(text, fields_.label_field));
      text = of_json;
    }
    BRIGADE_ASSIGN(const std::string_view name, parse_class_name(text));
    if (classes_ != nullptr) {
      const auto number = classes_->number_of(name);
      if (!number) return Error{"is not one of the classes"};
      return *number;
    }
    const auto [entry, added] = names_.emplace(name, static_cast<std::int64_t>(out_.names.size()));
    if (!added) return entry->second;
    if (names_.size() > kClassNamesMax)
      return Error{concat("has more than ", format_count(kClassNamesMax),
                          " different labels; check that the labels are class names")};
    out_.names.emplace_back(name);
    return entry->second;
  }

  Result<void> check_unique() {
    std::vector<std::string_view> keys;
    for (const TarSample& sample : out_.samples)
      keys.push_back(std::string_view(out_.keys).substr(sample.key_at, sample.key_bytes));
    std::sort(keys.begin(), keys.end());
    const auto same = std::adjacent_find(keys.begin(), keys.end());
    if (same == keys.end()) return {};
    return Error{concat("has members of ", quote(*same),
                        " in several places; pack the members of a sample ",
                        "next to each other (`tar --sort=name`)")};
  }

  TarWalk::Read read_;
  const TarFields& fields_;
  const ClassNames* classes_;
  std::size_t members_max_;
  TarWalk walk_;
  ShardScan out_;
  std::unordered_map<std::string, std::int64_t> names_;  // of out_.names
  std::string key_;                                      // of the sample in hand
  std::vector<std::string> extensions_;                  // of its members, the first few
  std::vector<std::string> others_;                      // of those that nobody reads
  TarPlace image_{};
  TarPlace label_{};
  std::size_t which_ = 0;
  std::size_t which_label_ = 0;
  std::vector<TarPlace> extras_;
};

}  // namespace

Result<ShardScan> scan_shard_bytes(TarWalk::Read read, std::uint64_t bytes, const TarFields& fields,
                                   const ClassNames* classes, std::size_t members_max) {
  return Scan(std::move(read), bytes, fields, classes, members_max).run();
}

Result<ShardScan> scan_shard(const std::string& path, const TarFields& fields,
                             const ClassNames* classes, std::size_t members_max) {
  ShardFile file;
  ShardScan of_file;
  if (auto opened = file.open(path, of_file); !opened) return opened.error().within(path);
  auto scan = scan_shard_bytes(
      [&file](std::uint64_t offset, std::size_t size) { return file.read(offset, size); },
      of_file.bytes, fields, classes, members_max);
  if (!scan) return scan.error().within(path);
  scan->bytes = of_file.bytes;
  scan->changed_ns = of_file.changed_ns;
  return scan;
}

}  // namespace brigade
