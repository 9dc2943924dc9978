#include "stages/image/guess/data_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <brigade/text.h>
#include <brigade/types.h>
#include "base/io.h"
#include "base/owned_fd.h"
#include "stages/api/class_folders.h"
#include "stages/api/file_patterns.h"
#include "stages/image/guess/data_archive.h"
#include "stages/image/guess/data_table.h"
#include "stages/image/guess/listed_folders.h"
#include "stages/image/index/image_index.h"
#include "stages/image/index/tar_walk.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;
using Kind = FoundData::Kind;

constexpr int kFoldersDeepMax = Folders::kDeepMax;
constexpr std::size_t kTablesMax = 64;  // looked into
constexpr std::string_view kTrainNames[] = {"train", "training"};
constexpr std::string_view kTestNames[] = {"val",  "valid",   "validation", "dev",
                                           "test", "testing", "eval"};
constexpr std::string_view kTableEnds[] = {".csv", ".tsv", ".lst", ".txt"};
constexpr std::string_view kPackedEnds[] = {".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2"};

std::string lowered(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string below(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : name.empty() ? folder : concat(folder, "/", name);
}

template <std::size_t count>
bool ends_with_any(const std::string& name, const std::string_view (&ends)[count]) {
  const std::string text = lowered(name);
  return std::any_of(std::begin(ends), std::end(ends),
                     [&](std::string_view end) { return text.ends_with(end); });
}

/// Nothing of what is no regular file: a pipe would be waited for.
Result<std::optional<std::string>> start_of(const std::string& path) {
  const OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.get() >= 0 && fstat(file.get(), &status) == 0 && !S_ISREG(status.st_mode))
    return std::optional<std::string>();
  auto start = file.get() < 0 ? std::nullopt : read_start(file.get(), kMetadataBytesMax);
  if (!start) return error_of_errno(concat(path, ": cannot read"));
  return start;
}

/// "train" of a folder, or "train/images" where all classes lie in the one folder there.
std::string class_root(Folders& folders, const std::string& folder, std::string root) {
  for (int depth = 0; depth < kFoldersDeepMax; ++depth) {
    const Folders::Classes outer = folders.classes_in(below(folder, root));
    if (outer.with.size() != 1) break;
    const std::string inner = below(root, outer.with.front());
    if (folders.classes_in(below(folder, inner)).with.empty()) break;
    root = inner;
  }
  return root;
}

class FolderLook {
 public:
  FolderLook(Folders& folders, std::string folder) : folders_(folders) {
    data_.folder = std::move(folder);
  }

  Result<FoundData> run(int depth = 0) {
    names_ = folders_.names_in(data_.folder);
    note_idx();
    if (!data_.images.empty()) return of(Kind::idx);
    const std::string train = split(kTrainNames);
    const Folders::Classes classes = folders_.classes_in(below(data_.folder, train));
    const bool wrapped = train.empty() && classes.with.size() == 1;
    if (!wrapped && !classes.with.empty()) return take_classes(train);
    BRIGADE_ASSIGN(const bool archives, take_archives(train));
    if (archives) return data_;
    for (const bool only_images : {true, false}) {
      BRIGADE_ASSIGN(const bool table, take_table(only_images));
      if (table) return data_;
    }
    const bool lonely = names_.folders.size() == 1 && train.empty();
    if ((wrapped || lonely) && depth < kFoldersDeepMax)
      return FolderLook(folders_, below(data_.folder,
                                        wrapped ? classes.with.front() : names_.folders.front()))
          .run(depth + 1);
    if (!train.empty() && split(kTestNames).empty()) {  // a class may be called so
      if (folders_.classes_in(data_.folder).with.size() > 1) return take_classes("");
    }
    return nothing(train, depth);
  }

  Result<FoundData> file(const std::string& name) {
    names_.files = {name};
    BRIGADE_ASSIGN(const bool archive, take_archives(""));
    if (archive) return data_;
    for (const bool only_images : {true, false}) {
      BRIGADE_ASSIGN(const bool table, take_table(only_images));
      if (table) return data_;
    }
    if (auto problem = folders_.problem()) return *std::move(problem);
    return Error{concat(below(data_.folder, name),
                        ": expected a folder of data, a table (.csv, .tsv, .txt) of images or "
                        "numbers, or an archive (.tar)")};
  }

 private:
  FoundData of(Kind kind) {
    data_.kind = kind;
    return data_;
  }

  void note_idx() {
    const auto is_test = [](const std::string& name) {
      return name.find("t10k") != name.npos || name.find("test") != name.npos;
    };
    for (const std::string& name : names_.files) {
      if (name.find("idx3") != name.npos) (is_test(name) ? data_.test_images : data_.images) = name;
      if (name.find("idx1") != name.npos) (is_test(name) ? data_.test_labels : data_.labels) = name;
    }
  }

  /// The folder with the first of these names, in any case; empty: none.
  template <std::size_t count>
  std::string split(const std::string_view (&wanted)[count]) const {
    for (const std::string_view name : wanted)
      for (const std::string& folder : names_.folders)
        if (lowered(folder) == name) return folder;
    return "";
  }

  Result<FoundData> take_classes(const std::string& train) {
    data_.train = class_root(folders_, data_.folder, train);
    const std::string root = below(data_.folder, data_.train);
    Folders::Classes classes = folders_.classes_in(root);
    if (classes.with.empty()) return nothing(train);
    if (!folders_.names_in(root).all)
      return Error{concat(root, ": has more than ", format_count(kFolderNamesMax),
                          " names, too many to count the classes; start from `brigade init "
                          "--synthetic` and set `classes:`")};
    if (!classes.without.empty()) return no_images(root, classes);
    data_.classes = std::move(classes.with);
    const std::string test = train.empty() ? "" : split(kTestNames);
    if (!test.empty()) take_test(test);
    if (test.empty() && !train.empty())
      data_.remark = concat("found no folder val next to ", train);
    return of(Kind::classes);
  }

  void take_test(const std::string& name) {
    const std::string root = class_root(folders_, data_.folder, name);
    const Folders::Classes classes = folders_.classes_in(below(data_.folder, root));
    if (classes.with == data_.classes && classes.without.empty()) {
      data_.test = root;
    } else {
      const std::string why =
          classes.with.empty() ? "it has no class folders with images"
          : classes.with == data_.classes
              ? concat("found no images in ", class_list(classes.without))
              : concat("its classes differ: ", class_difference(data_.classes, classes.with));
      data_.remark = concat(root, " is not used for evaluation: ", why);
    }
  }

  Error no_images(const std::string& root, const Folders::Classes& classes) const {
    for (const std::string& name : classes.without)
      if (auto problem = folders_.problem(concat(root, "/", name))) return *std::move(problem);
    return Error{
        concat(root, ": no images in ", class_list(classes.without), ", but images in ",
               class_list(classes.with),
               ": every folder there is a class; delete the empty folders or add images to them")};
  }

  /// Archives in the folder itself, those for training by their names, or in folders.
  Result<bool> take_archives(const std::string& train) {
    std::string first;
    if (train.empty()) {
      first = find_archives(names_.files, "", data_.train, data_.test);
    } else {
      const Folders::Names names = folders_.names_in(below(data_.folder, train));
      std::string none;
      first = find_archives(names.files, train + "/", data_.train, none);
      const std::string test = split(kTestNames);
      if (!test.empty()) {
        const Folders::Names test_names = folders_.names_in(below(data_.folder, test));
        find_archives(test_names.files, test + "/", data_.test, none);
      }
    }
    if (first.empty()) return false;
    const std::string path = below(data_.folder, first);
    if (const auto how = packed_by(first); !how.empty()) return packed_archive(how).within(path);
    BRIGADE_ASSIGN(const ArchiveGuess guess, look_at_archive(path));
    data_.image = guess.image;
    data_.label = guess.label;
    data_.label_field = guess.label_field;
    data_.label_is_name = guess.label_is_name;
    data_.kind = Kind::shards;
    return true;
  }

  /// Wildcards for the archives among `files`; gives the first for training.
  static std::string find_archives(const std::vector<std::string>& files, const std::string& folder,
                                   std::string& train, std::string& test) {
    std::string first;
    std::string packed;
    for (const std::string& name : files) {
      if (ends_with_any(name, kPackedEnds) && packed.empty()) packed = folder + name;
      if (!name.ends_with(".tar")) continue;
      if (is_called(name, kTestNames)) {
        if (test.empty()) test = folder + wildcard(files, name);
      } else if (train.empty() ||
                 (is_called(name, kTrainNames) && !is_called(first, kTrainNames))) {
        first = folder + name;
        train = folder + wildcard(files, name);
      }
    }
    if (train.empty() && !test.empty()) std::swap(train, test);  // only these are there
    if (first.empty() && !train.empty())
      for (const std::string& name : files)
        if (first.empty() && name.ends_with(".tar")) first = folder + name;
    return first.empty() ? packed : first;
  }

  template <std::size_t count>
  static bool is_called(const std::string& name, const std::string_view (&wanted)[count]) {
    const std::string text = lowered(fs::path(name).filename().string());
    return std::any_of(std::begin(wanted), std::end(wanted),
                       [&](std::string_view one) { return text.starts_with(one); });
  }

  /// Of train-000.tar: train-*.tar, where there are others; else the name.
  static std::string wildcard(const std::vector<std::string>& files, const std::string& name) {
    const std::string start = name.substr(0, name.find_first_of("0123456789."));
    const auto alike = std::count_if(files.begin(), files.end(), [&](const std::string& other) {
      return other.starts_with(start) && other.ends_with(".tar");
    });
    if (alike > 1) return literal_wildcard(start) + "*.tar";
    return is_wildcard(name) ? literal_wildcard(name) : name;
  }

  Result<bool> take_table(bool only_images) {
    std::vector<std::string> tables;
    for (const std::string_view end : kTableEnds)
      for (const std::string& name : names_.files)
        if (lowered(name).ends_with(end)) tables.push_back(name);
    const auto place = [](const std::string& name) {
      return is_called(name, kTrainNames) ? 0 : is_called(name, kTestNames) ? 2 : 1;
    };
    std::stable_sort(tables.begin(), tables.end(), [&](const std::string& a, const std::string& b) {
      return place(a) < place(b);
    });
    if (tables.size() > kTablesMax) tables.resize(kTablesMax);
    for (const std::string& name : tables) {
      auto head = start_of(below(data_.folder, name));
      if (!head) folders_.note(head.error());
      if (!head || !*head) continue;
      const auto guess = guess_table(**head);
      if (!guess || guess->image.empty() == only_images) continue;
      if (!only_images && lowered(name).ends_with(".txt") && tables.size() > 1) continue;
      BRIGADE_TRY(take_guess(name, *guess));
      if (data_.kind == Kind::list) take_test_table(tables, *guess);
      return true;
    }
    return false;
  }

  Result<void> take_guess(const std::string& name, const TableGuess& guess) {
    data_.table = name;
    data_.separator = guess.separator;
    data_.header = guess.header;
    data_.image = guess.image;
    data_.label = guess.label;
    data_.label_is_name = guess.label_is_name;
    data_.features = guess.numbers;
    data_.kind = guess.image.empty() ? Kind::numbers : Kind::list;
    return guess.image.empty() ? Result<void>() : find_root(guess.first_image);
  }

  /// One that is called so, with the same columns, and images in the same place.
  void take_test_table(const std::vector<std::string>& tables, const TableGuess& guess) {
    std::error_code ignored;
    const fs::path root = fs::path(data_.folder) / data_.root;
    for (const std::string& name : tables) {
      if (name == data_.table || !is_called(name, kTestNames) || !data_.test.empty()) continue;
      const auto head = start_of(below(data_.folder, name));
      const auto other = head && *head ? guess_table(**head) : std::nullopt;
      if (other && other->image == guess.image && other->label == guess.label &&
          other->header == guess.header && other->separator == guess.separator &&
          other->label_is_name == guess.label_is_name &&
          fs::exists(root / other->first_image, ignored))
        data_.test = name;
    }
  }

  /// Where the images of a list lie: beside it, or in a folder there.
  Result<void> find_root(const std::string& image) {
    std::error_code ignored;
    if (fs::exists(fs::path(data_.folder) / image, ignored)) return {};
    for (const std::string& folder : folders_.names_in(data_.folder).folders) {
      if (!fs::exists(fs::path(data_.folder) / folder / image, ignored)) continue;
      data_.root = folder;
      return {};
    }
    return Error{concat(
        below(data_.folder, data_.table), ": its first image, ", image, ", exists neither in ",
        data_.folder,
        " nor in one of its folders; move the table to the folder that its paths are relative to")};
  }

  Result<FoundData> nothing(const std::string& train, int depth = 0) {
    const std::string folder = below(data_.folder, train);
    const std::string image = folders_.image_in(folder).value_or("");
    auto problem = folders_.problem();
    if (!image.empty() && (!problem || depth == 0))
      return Error{concat(folder, ": has images, but no class folders (", folder,
                          "/CLASS/*.jpg); for a graph without labels, list the images and ",
                          "pass the list: `find ", folder, " -name '*",
                          image.substr(image.rfind('.')),
                          "' > images.txt && brigade init images.txt`")};
    if (problem) return *std::move(problem);
    const bool empty = names_.files.empty() && names_.folders.empty();
    return Error{
        concat(folder, empty ? ": is empty; expected " : ": found no ",
               "class folders (CLASS/*.jpg, or train/CLASS and val/CLASS), tar archives, tables "
               "(.csv) or IDX files; to start without data run `brigade init --synthetic`")};
  }

  Folders& folders_;
  FoundData data_;
  Folders::Names names_;
};

}  // namespace

Result<FoundData> look_at_data(const std::string& path) {
  std::error_code error;
  const fs::path found = fs::canonical(path, error);
  if (error) return Error{concat("cannot stat ", path, ": ", error.message())};
  Folders folders;
  if (fs::is_directory(found, error)) return FolderLook(folders, found.string()).run();
  return FolderLook(folders, found.parent_path().string()).file(found.filename().string());
}

}  // namespace brigade
