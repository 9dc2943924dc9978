#include "stages/api/class_folders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include <brigade/text.h>
#include "tests/support/message_of.h"

namespace brigade {
namespace {

/// Folders by their paths; each name that ends in a slash is one.
struct Folders {
  std::map<std::string, std::vector<std::string>> names;
  std::size_t looked_at = 0;

  Result<std::vector<std::string>> find() { return class_names("/r", lists()); }
  ListFolder lists() {
    return [this](const std::string& path, std::size_t names_max) {
      FolderNames out;
      const auto found = names.find(path);
      if (found == names.end()) return Result<FolderNames>(Error{"cannot read the folder"});
      for (const std::string& name : found->second) {
        if (out.names.size() == names_max) return Result<FolderNames>(out);
        ++looked_at;
        const bool folder = name.ends_with('/');
        out.names.push_back({folder ? name.substr(0, name.size() - 1) : name, folder});
      }
      out.all = true;
      return Result<FolderNames>(out);
    };
  }
};

TEST(ClassFolders, HaveImagesByExtensionInAnyCase) {
  for (const char* name :
       {"a.jpg", "a.JPEG", "a.Png", "a.TIFF", "a.tif", "a.webp", "x.y.bmp", "a.ppm", "a.pgm"})
    EXPECT_TRUE(is_image_name(name)) << name;
  for (const char* name : {"a.txt", "jpg", "a.jpg.bak", "a.", "", "a.jp", "a.gif"})
    EXPECT_FALSE(is_image_name(name)) << name;
}

TEST(ClassFolders, AreCountedByTheirNames) {
  Folders folders{{{"/r", {"cat/", "dog/", ".git/", "readme.txt", "1.jpg"}},
                   {"/r/cat", {"1.JPEG"}},
                   {"/r/dog", {"notes.txt", "deep/"}}}};
  EXPECT_EQ(folders.find().value(), (std::vector<std::string>{"cat", "dog"}));
}

TEST(ClassFolders, HaveSoManyImagesWhereTheyAreFew) {
  Folders folders{{{"/r", {"cat/", "dog/", ".git/", "readme.txt", "1.jpg"}},
                   {"/r/cat", {"1.JPEG", "2.png", ".3.png", "notes.txt"}},
                   {"/r/dog", {"deep/"}},
                   {"/r/dog/deep", {"4.jpg"}}}};
  EXPECT_EQ(count_images("/r", folders.lists()), 3u);
  folders.names["/r/dog"].push_back("gone/");
  EXPECT_EQ(count_images("/r", folders.lists()), std::nullopt) << "it cannot be read";
  folders.names["/r/dog"] = {"deep/"};
  std::vector<std::string>& most = folders.names["/r/dog/deep"];
  most.resize(kImageNamesCounted - 10, "x.jpg");
  EXPECT_EQ(count_images("/r", folders.lists()), kImageNamesCounted - 10 + 2);
  most.push_back("y.jpg");
  folders.looked_at = 0;
  EXPECT_EQ(count_images("/r", folders.lists()), std::nullopt);
  EXPECT_EQ(folders.looked_at, kImageNamesCounted);
}

TEST(ClassFolders, DifferByNames) {
  EXPECT_EQ(class_difference({"cat", "dog"}, {"cat", "dog"}), "");
  EXPECT_EQ(class_difference({"cat", "dog"}, {"cat"}), "missing: dog");
  EXPECT_EQ(class_difference({"cat", "dog"}, {"cat", "wolf"}), "missing: dog, and extra: wolf");
}

TEST(ClassFolders, ThatCannotBeAreSaid) {
  using Names = std::map<std::string, std::vector<std::string>>;
  for (const auto& [names, error] :
       {std::pair<Names, std::string>{{}, "/r: cannot read the folder"},
        {{{"/r", {"cat/"}}}, "/r/cat: cannot read the folder"},
        {{{"/r", {".hidden/"}}}, "/r: the folder is empty; expected one folder"},
        {{{"/r", {"notes.txt"}}}, "/r: has no class folders; expected one folder"},
        {{{"/r", {"1.jpg"}}}, "/r: has images, but no class folders;"},
        {{{"/r", {"cat/"}}, {"/r/cat", {"notes.txt", ".1.jpg"}}}, "/r/cat: has no images (.jpg "}})
    EXPECT_TRUE(message_of(Folders{names}.find()).starts_with(error)) << error;
}

TEST(ClassFolders, AreNotLookedThrough) {
  Folders folders{{{"/r", {}}}};
  for (int i = 0; i < 1000; ++i) {
    const std::string name = concat("class_", i);
    folders.names["/r"].push_back(name + "/");
    for (int j = 0; j < 200; ++j)
      folders.names[concat("/r/", name)].push_back(concat(j, i == 999 ? ".txt" : ".jpg"));
  }
  EXPECT_EQ(folders.find().value().size(), 1000u);
  EXPECT_LE(folders.looked_at, 1000u + 256 * 64);
  Folders million{{{"/r", std::vector<std::string>(kFolderNamesMax + 1, "1.jpg")}}};
  EXPECT_TRUE(million.find().value().empty()) << "nothing is said of it";
  EXPECT_EQ(million.looked_at, kFolderNamesMax);
}

}  // namespace
}  // namespace brigade
