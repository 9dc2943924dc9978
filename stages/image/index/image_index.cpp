#include "stages/image/index/image_index.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <brigade/text.h>
#include "base/clock.h"
#include "stages/image/index/folder_scan.h"
#include "stages/image/index/in_parallel.h"
#include "stages/image/index/made_from.h"

namespace brigade {
namespace {

enum Section : std::size_t { kNames, kBegins, kRuns, kFolders, kClassNames, kClassEnds, kSections };

/// `made_from` is the root, when it was looked at, what was skipped, then each folder with its
/// time of change.
class Listing {
 public:
  Listing(const std::string& root, std::int64_t looked_ns,
          const std::vector<SkippedInputs>& skipped, std::int64_t root_changed_ns) {
    add_part(made_from_, root);
    add_part(made_from_, concat(looked_ns));
    add_skipped(made_from_, skipped);
    add_folder(".", root_changed_ns);
  }

  void add_class(const std::string& name, const FolderScan& scan) {
    const auto label = static_cast<std::uint32_t>(class_ends_.size());
    for (const FolderScan::Seen& seen : scan.folders) add_folder(seen.folder, seen.changed_ns);
    for (const FolderScan::Run& run : scan.runs)
      add_run(begins_.size() + run.begins_at, names_.size() + run.names_at, run.folder, label);
    names_ += scan.names;
    begins_.insert(begins_.end(), scan.begins.begin(), scan.begins.end());
    class_names_ += name;
    class_ends_.push_back(static_cast<std::uint32_t>(class_names_.size()));
  }

  bool empty() const { return class_ends_.empty(); }

  std::string finish() {
    add_run(begins_.size(), names_.size(), "", 0);
    IndexWriter writer;
    writer.add(names_);
    writer.add(begins_);
    writer.add(runs_);
    writer.add(folders_);
    writer.add(class_names_);
    writer.add(class_ends_);
    return writer.finish(IndexKind::image_folder, made_from_);
  }

 private:
  void add_folder(std::string_view folder, std::int64_t changed_ns) {
    add_part(made_from_, folder);
    add_part(made_from_, concat(changed_ns));
  }

  void add_run(std::uint64_t first, std::uint64_t names_at, std::string_view folder,
               std::uint32_t label) {
    runs_.push_back(
        {first, names_at, folders_.size(), static_cast<std::uint32_t>(folder.size()), label});
    folders_ += folder;
  }

  std::string made_from_;
  std::string names_;
  std::vector<std::uint32_t> begins_;
  std::vector<ImageRun> runs_;
  std::string folders_;
  std::string class_names_;
  std::vector<std::uint32_t> class_ends_;
};

}  // namespace

Result<std::string> ImageIndex::scan(const std::string& root) {
  const std::int64_t looked_ns = utc_ns();
  std::int64_t root_changed_ns = 0;
  SkipTally skipped;
  BRIGADE_ASSIGN(const std::vector<FolderEntry> found, list_folder(root, root_changed_ns, skipped));
  std::vector<const std::string*> names;
  for (const FolderEntry& entry : found) {
    if (entry.is_folder) {
      names.push_back(&entry.name);
    } else if (is_image_name(entry.name)) {
      skipped.add(SkipReason::no_match, "images outside the class folders", entry.name);
    } else {
      skip_file(entry.name, skipped);
    }
  }
  std::vector<std::optional<Result<FolderScan>>> scans(names.size());
  in_parallel(names.size(), [&](std::size_t i) { scans[i] = scan_folder(root, *names[i]); });
  for (const auto& scan : scans)
    if (*scan) skipped.add((*scan)->skipped);
  Listing listing(root, looked_ns, skipped.list(), root_changed_ns);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!*scans[i]) return scans[i]->error();
    if ((*scans[i])->begins.empty()) return no_images(root, *names[i]);
    listing.add_class(*names[i], **scans[i]);
    scans[i].reset();
  }
  if (listing.empty())
    return no_class_folders(root, found.empty(),
                            std::any_of(found.begin(), found.end(), [](const FolderEntry& entry) {
                              return is_image_name(entry.name);
                            }));
  return listing.finish();
}

bool ImageIndex::is_current(std::string_view made_from, const std::string& root,
                            const StampOf& stamp) {
  std::string_view rest = made_from;
  if (take_part(rest) != root) return false;
  const auto looked_ns = take_number(rest);
  bool any = false;
  if (!looked_ns || *looked_ns < kRecentNs || !take_skipped(rest)) return false;
  while (!rest.empty()) {
    const auto folder = take_part(rest);
    const auto changed = take_number(rest);
    if (!folder || !changed || *changed > *looked_ns - kRecentNs) return false;
    const auto now = stamp(concat(root, "/", *folder));
    if (!now || *changed != now->changed_ns) return false;
    any = true;
  }
  return any;
}

std::optional<SampleCount> ImageIndex::size_of(const IndexStart& start) {
  if (start.section_bytes.size() != kSections) return std::nullopt;
  return SampleCount(start.section_bytes[kBegins] / sizeof(std::uint32_t),
                     skipped_of(start.made_from));
}

Result<ImageIndex> ImageIndex::of(const IndexFile& file) {
  if (file.sections() != kSections) return Error{"is damaged: sections are missing"};
  ImageIndex out;
  out.names_ = file.bytes_of(kNames);
  out.begins_ = file.of<std::uint32_t>(kBegins);
  out.runs_ = file.of<ImageRun>(kRuns);
  out.folders_ = file.bytes_of(kFolders);
  out.class_names_ = file.bytes_of(kClassNames);
  out.class_ends_ = file.of<std::uint32_t>(kClassEnds);
  if (out.runs_.size() < 2 || out.runs_.front().first != 0 ||
      out.runs_.back().first != out.begins_.size())
    return Error{"is damaged: its runs do not match its names"};
  return out;
}

Result<ImageEntry> ImageIndex::at(std::uint64_t index) const {
  const auto damaged = [&] { return Error{concat("the index is damaged at image ", index)}; };
  if (index >= size()) return damaged();
  const auto after =
      std::upper_bound(runs_.begin(), runs_.end(), index,
                       [](std::uint64_t i, const ImageRun& run) { return i < run.first; });
  if (after == runs_.begin() || after == runs_.end()) return damaged();
  const ImageRun& run = after[-1];
  const std::uint64_t begin = run.names_at + begins_[index];
  const std::uint64_t end =
      index + 1 < after->first ? run.names_at + begins_[index + 1] : after->names_at;
  if (begin > end || end > names_.size() || run.folder_at > folders_.size() ||
      run.folder_bytes > folders_.size() - run.folder_at ||
      run.folder_bytes + (end - begin) >= kPathBytesMax)
    return damaged();
  return ImageEntry{folders_.substr(run.folder_at, run.folder_bytes),
                    names_.substr(begin, end - begin), run.label};
}

std::string ImageIndex::path(std::uint64_t index) const {
  const auto entry = at(index);
  return entry ? concat(entry->folder, "/", entry->name) : "";
}

std::string_view ImageIndex::class_name(std::size_t label) const {
  const std::size_t begin = label == 0 ? 0 : class_ends_[label - 1];
  const std::size_t end = class_ends_[label];
  if (begin > end || end > class_names_.size()) return "";
  return class_names_.substr(begin, end - begin);
}

}  // namespace brigade
