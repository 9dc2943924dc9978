#pragma once

// Names of folders, and which contain images: listed for a guess,
// up to a limit of folders and names. A folder that cannot be read
// counts as empty, because the data may be beside it. One thread.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <brigade/result.h>

namespace brigade {

class Folders {
 public:
  static constexpr int kDeepMax = 3;  ///< folders in each other that are looked into

  /// Sorted bytewise, hidden ones left out.
  struct Names {
    std::vector<std::string> folders;  ///< links to folders, too
    std::vector<std::string> links;    ///< of them
    std::vector<std::string> files;
    bool all = true;  ///< no more than these are there
  };

  struct Classes {
    std::vector<std::string> with;     ///< images
    std::vector<std::string> without;  ///< image_folder would refuse them
  };

  /// `until_image`: they end with the first image.
  Names names_in(const std::string& folder, bool until_image = false);

  /// An image in a folder or in those below it, links left out; empty: none. Nothing where that
  /// would be too much to list.
  const std::optional<std::string>& image_in(const std::string& folder);

  /// The folders in a folder. Where others have images, those that nobody looks into have some.
  Classes classes_in(const std::string& folder);

  /// Kept for the case that nothing is found.
  void note(Error problem);
  /// The first of all, or of one folder and what is below it.
  std::optional<Error> problem(const std::string& below = "") const;

 private:
  bool is_enough() const;
  std::string look_for_image(const std::string& folder, int depth);

  std::size_t folders_listed_ = 0;
  std::size_t names_listed_ = 0;
  bool any_image_ = false;
  std::map<std::string, std::optional<std::string>> images_;
  std::vector<Error> problems_;
};

}  // namespace brigade
