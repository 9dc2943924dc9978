#include "stages/image/guess/listed_folders.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <brigade/text.h>
#include "stages/api/class_folders.h"
#include "stages/api/folder_names.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;

// What one look for images lists, however folders lie in each other.
constexpr std::size_t kFoldersListedMax = 2'000;
constexpr std::size_t kNamesListedMax = 1'000'000;
constexpr std::size_t kProblemsMax = 64;

}  // namespace

Folders::Names Folders::names_in(const std::string& folder, bool until_image) {
  Names out;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename();
    if (name.starts_with('.')) continue;
    out.all = out.folders.size() + out.files.size() < kFolderNamesMax;
    if (!out.all) break;
    std::error_code ignored;  // a link to nothing is no folder
    const bool is_folder = entry->is_directory(ignored);
    if (is_folder && entry->is_symlink(ignored)) out.links.push_back(name);
    (is_folder ? out.folders : out.files).push_back(std::move(name));
    if (until_image && !is_folder && is_image_name(out.files.back())) break;
  }
  if (error) note(Error{concat(folder, ": cannot read the folder: ", error.message())});
  for (auto* names : {&out.folders, &out.links, &out.files})
    std::sort(names->begin(), names->end());
  return out;
}

const std::optional<std::string>& Folders::image_in(const std::string& folder) {
  const auto known = images_.find(folder);
  if (known != images_.end()) return known->second;
  std::optional<std::string> image = look_for_image(folder, 0);
  if (image->empty() && is_enough()) image.reset();
  return images_.emplace(folder, std::move(image)).first->second;
}

Folders::Classes Folders::classes_in(const std::string& folder) {
  Classes out;
  for (std::string& name : names_in(folder).folders) {
    const auto& image = image_in(concat(folder, "/", name));
    const bool has = image ? !image->empty() : any_image_;
    (has ? out.with : out.without).push_back(std::move(name));
  }
  return out;
}

void Folders::note(Error problem) {
  if (problems_.size() < kProblemsMax) problems_.push_back(std::move(problem));
}

std::optional<Error> Folders::problem(const std::string& below) const {
  for (const Error& problem : problems_)
    if (problem.message.starts_with(below)) return problem;
  return std::nullopt;
}

bool Folders::is_enough() const {
  return folders_listed_ >= kFoldersListedMax || names_listed_ >= kNamesListedMax;
}

std::string Folders::look_for_image(const std::string& folder, int depth) {
  if (is_enough()) return "";
  const Names names = names_in(folder, true);
  folders_listed_ += 1;
  names_listed_ += names.folders.size() + names.files.size();
  const auto image = std::find_if(names.files.begin(), names.files.end(), is_image_name);
  if (image != names.files.end()) {
    any_image_ = true;
    return *image;
  }
  for (const std::string& name : names.folders) {
    if (depth >= kDeepMax) break;
    if (std::binary_search(names.links.begin(), names.links.end(), name)) continue;
    std::string found = look_for_image(concat(folder, "/", name), depth + 1);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace brigade
