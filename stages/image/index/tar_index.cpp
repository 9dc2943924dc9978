#include "stages/image/index/tar_index.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <brigade/text.h>
#include "base/clock.h"
#include "stages/image/index/class_names.h"
#include "stages/image/index/in_parallel.h"
#include "stages/image/index/made_from.h"
#include "stages/image/index/shard_scan.h"

namespace brigade {
namespace {

constexpr std::size_t kUnreadTextBytesMax = 400;

enum Section : std::size_t { kSamples, kBegins, kKeys, kClasses, kExtras };

/// What was wanted; another wish needs another index.
std::string wish_of(const TarFields& fields) {
  return concat("members, image ", join(fields.image, ","), " label ", join(fields.label, ","),
                " field ", fields.label_field, " extra ", join(fields.extra, ","),
                fields.names ? " names" : " numbers");
}

/// The file of the classes' names, and how it was; three empty parts where there is none.
void add_stamp(std::string& made_from, const std::string& path) {
  const auto stamp = path.empty() ? std::nullopt : stamp_of(path);
  add_part(made_from, path);
  add_part(made_from, stamp ? concat(stamp->bytes) : "");
  add_part(made_from, stamp ? concat(stamp->changed_ns) : "");
}

bool take_stamp(std::string_view& rest, const std::string& path, const StampOf& stamp,
                std::int64_t changed_before) {
  if (take_part(rest) != path) return false;
  if (path.empty()) return take_part(rest) == "" && take_part(rest) == "";
  const auto bytes = take_number(rest);
  const auto changed = take_number(rest);
  const auto now = stamp(path);
  return bytes && changed && now && *changed <= changed_before &&
         static_cast<std::uint64_t>(*bytes) == now->bytes && *changed == now->changed_ns;
}

class Listing {
 public:
  explicit Listing(const TarFields& fields) : extras_(fields.extra.size()) {
    add_part(made_from_, wish_of(fields));
    add_part(made_from_, concat(utc_ns()));
  }

  /// Before the first add().
  void begin(const std::vector<SkippedInputs>& skipped, const std::string& unread,
             const std::string& classes_file, const ClassNames& classes) {
    add_skipped(made_from_, skipped);
    add_part(made_from_, unread);
    add_stamp(made_from_, classes_file);
    classes_ = classes.lines();
  }

  void add(const std::string& path, const ShardScan& scan) {
    add_part(made_from_, path);
    add_part(made_from_, concat(scan.bytes));
    add_part(made_from_, concat(scan.changed_ns));
    begins_.push_back(samples_.size());
    for (TarSample sample : scan.samples) {
      sample.key_at += keys_.size();
      samples_.push_back(sample);
    }
    keys_ += scan.keys;
    for (std::size_t e = 0; e < extras_.size(); ++e)
      extras_[e].insert(extras_[e].end(), scan.extras[e].begin(), scan.extras[e].end());
  }

  bool empty() const { return samples_.empty(); }

  std::string finish() {
    begins_.push_back(samples_.size());
    IndexWriter writer;
    writer.add(samples_);
    writer.add(begins_);
    writer.add(keys_);
    writer.add(classes_);
    for (const auto& extra : extras_) writer.add(extra);
    return writer.finish(IndexKind::tar_shards, made_from_);
  }

 private:
  std::string made_from_;
  std::vector<TarSample> samples_;
  std::vector<std::uint64_t> begins_;
  std::string keys_;
  std::string classes_;
  std::vector<std::vector<TarPlace>> extras_;
};

/// The names that archives have, and in each archive's samples their numbers.
Result<ClassNames> number_names(std::vector<std::optional<Result<ShardScan>>>& scans) {
  std::vector<std::string> names;
  for (const auto& scan : scans)
    names.insert(names.end(), (*scan)->names.begin(), (*scan)->names.end());
  auto sorted = ClassNames::sorted(std::move(names));
  if (!sorted) return Error{concat("the archives have ", sorted.error().message)};
  ClassNames classes = std::move(*sorted);
  for (auto& scan : scans) {
    std::vector<std::int64_t> numbers;
    for (const std::string& name : (*scan)->names) numbers.push_back(*classes.number_of(name));
    for (TarSample& sample : (*scan)->samples)
      if (sample.state == static_cast<std::uint8_t>(TarState::good))
        sample.label = numbers[static_cast<std::size_t>(sample.label)];
  }
  return classes;
}

}  // namespace

TarName split_tar_name(std::string_view name) {
  const std::size_t last = name.rfind('/') == name.npos ? 0 : name.rfind('/') + 1;
  const std::size_t dot = name.find('.', last);
  if (dot == name.npos || dot == last) return {name, ""};
  TarName out{name.substr(0, dot), std::string(name.substr(dot + 1))};
  for (char& letter : out.extension)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter + 'a' - 'A');
  return out;
}

Result<std::int64_t> parse_label(std::string_view text) {
  const std::string_view digits = trim(text);
  std::int64_t label = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), label);
  if (error == std::errc{} && end == digits.data() + digits.size()) return label;
  return Error{concat("expected a whole number, found ",
                      digits.empty() ? "nothing" : quote(digits.substr(0, 40)))};
}

Result<std::string> TarIndex::scan(const std::vector<std::string>& shards,
                                   const TarFields& fields) {
  Listing listing(fields);  // notes the time before the look
  ClassNames classes;
  if (!fields.classes.empty()) {
    BRIGADE_ASSIGN(classes, ClassNames::read(fields.classes));
  }
  const ClassNames* const known = fields.classes.empty() ? nullptr : &classes;
  std::vector<std::optional<Result<ShardScan>>> scans(shards.size());
  in_parallel(shards.size(),
              [&](std::size_t i) { scans[i] = scan_shard(shards[i], fields, known); });
  SkipTally tally;
  UnreadKeys unread;
  for (const auto& scan : scans) {
    if (!*scan) return scan->error();
    tally.add((*scan)->skipped);
    unread.add((*scan)->unread);
  }
  if (fields.names && known == nullptr) {
    BRIGADE_ASSIGN(classes, number_names(scans));
  }
  std::vector<SkippedInputs> skipped = tally.list();
  if (unread.count > 0)
    skipped.insert(skipped.begin(),
                   {SkipReason::no_match, unread.count, unread.text(fields, kSkipTextBytesMax)});
  listing.begin(skipped, unread.members_text(), fields.classes, classes);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    listing.add(shards[i], **scans[i]);
    scans[i].reset();
  }
  if (listing.empty()) return no_samples(shards, fields, unread, skipped);
  return listing.finish();
}

Error TarIndex::no_samples(const std::vector<std::string>& shards, const TarFields& fields,
                           const UnreadKeys& unread, const std::vector<SkippedInputs>& skipped) {
  const std::string found =
      unread.count > 0
          ? concat(", found ", unread.count, " ", unread.text(fields, kUnreadTextBytesMax))
      : skipped.empty() ? ""
                        : concat(", found ", skipped.front().count, " ", skipped.front().text);
  return Error{concat(shards.empty() ? "the list of shards" : shards.front(),
                      shards.size() > 1 ? concat(" and ", shards.size() - 1, " more") : "",
                      ": found no samples; expected members such as KEY.", fields.image.front(),
                      fields.label.empty() ? "" : concat(" and KEY.", fields.label.front()),
                      found)};
}

bool TarIndex::is_current(std::string_view made_from, const std::vector<std::string>& shards,
                          const TarFields& fields, const StampOf& stamp) {
  std::string_view rest = made_from;
  if (take_part(rest) != wish_of(fields)) return false;
  const auto looked_ns = take_number(rest);
  if (!looked_ns || *looked_ns < kRecentNs || !take_skipped(rest) || !take_part(rest)) return false;
  const std::int64_t before = *looked_ns - kRecentNs;
  if (!take_stamp(rest, fields.classes, stamp, before)) return false;
  for (const std::string& shard : shards)
    if (!take_stamp(rest, shard, stamp, before)) return false;
  return rest.empty();
}

std::optional<SampleCount> TarIndex::size_of(const IndexStart& start) {
  if (start.section_bytes.size() < kExtras) return std::nullopt;
  return SampleCount(start.section_bytes[kSamples] / sizeof(TarSample),
                     skipped_of(start.made_from));
}

std::vector<std::string> TarIndex::shards_of(const IndexFile& file) {
  std::vector<std::string> shards;
  std::string_view rest = file.made_from();
  take_part(rest);
  take_number(rest);
  take_skipped(rest);
  take_part(rest);                                       // what nobody reads
  for (int part = 0; part < 3; ++part) take_part(rest);  // the file of the classes' names
  while (const auto path = take_part(rest)) {
    shards.emplace_back(*path);
    take_number(rest);
    take_number(rest);
  }
  return shards;
}

std::string_view TarIndex::unread_members(const IndexFile& file) {
  std::string_view rest = file.made_from();
  take_part(rest);
  take_number(rest);
  take_skipped(rest);
  return take_part(rest).value_or("");
}

Result<TarIndex> TarIndex::of(const IndexFile& file, std::size_t shards, const TarFields& fields) {
  if (file.sections() != kExtras + fields.extra.size())
    return Error{"is damaged: sections are missing"};
  TarIndex out;
  out.samples_ = file.of<TarSample>(kSamples);
  out.begins_ = file.of<std::uint64_t>(kBegins);
  out.keys_ = file.bytes_of(kKeys);
  out.classes_ = file.bytes_of(kClasses);
  bool fits = out.begins_.size() == shards + 1 && out.begins_.front() == 0 &&
              out.begins_.back() == out.samples_.size();
  for (std::size_t e = 0; e < fields.extra.size(); ++e) {
    out.extras_.push_back(file.of<TarPlace>(kExtras + e));
    fits &= out.extras_.back().size() == out.samples_.size();
  }
  if (!fits) return Error{"is damaged: its parts do not match"};
  return out;
}

std::size_t TarIndex::shard(std::uint64_t index) const {
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), index);
  if (after == begins_.begin() || after == begins_.end()) return shards();
  return static_cast<std::size_t>(after - begins_.begin()) - 1;
}

std::string_view TarIndex::key(std::uint64_t index) const {
  const TarSample& sample = samples_[index];
  if (sample.key_at > keys_.size() || sample.key_bytes > keys_.size() - sample.key_at) return "";
  return keys_.substr(sample.key_at, sample.key_bytes);
}

std::size_t TarIndex::class_count() const {
  return static_cast<std::size_t>(std::count(classes_.begin(), classes_.end(), '\n'));
}

bool TarIndex::has_class(std::string_view name) const {
  const std::vector<std::string_view> names = split(classes_, '\n');
  return std::find(names.begin(), names.end(), name) != names.end();
}

TarPlace TarIndex::extra(std::uint64_t index, std::size_t which) const {
  return extras_[which][index];
}

}  // namespace brigade
