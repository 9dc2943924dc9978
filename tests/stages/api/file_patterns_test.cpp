#include "stages/api/file_patterns.h"
#include <brigade/path_stamp.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::ElementsAre;

TEST(FilePatterns, WildcardsAreWhatIsThereSortedBytewise) {
  TemporaryFolder folder;
  for (const char* name : {"b-2.tar", "b-10.tar", "B-1.tar", "c.txt"}) folder.write(name, "");
  const std::string root = folder.path();
  EXPECT_THAT(list_files({root + "/*.tar"}).value(),
              ElementsAre(root + "/B-1.tar", root + "/b-10.tar", root + "/b-2.tar"));
  EXPECT_THAT(list_files({root + "/c.txt", root + "/{none,b-?}.tar"}).value(),
              ElementsAre(root + "/c.txt", root + "/none.tar", root + "/b-2.tar"));
  EXPECT_EQ(list_files({root + "/*.zip"}).error().message, root + "/*.zip: no such file");
}

TEST(FilePatterns, AnyNameCanBeAWildcardThatStandsForItAlone) {
  for (const char* name : {"a*", "a?", "[a]", "a]", "[!a]", "a\\b", "\\[*", "a-b", "^", "a b"}) {
    const TemporaryFolder folder;
    for (const char* other : {"a", "ab", "aa", "b"}) folder.write(other, "");
    const std::string path = folder.write(std::string(name) + "[/x.tar", "");
    EXPECT_THAT(list_files({literal_wildcard(path)}).value(), ElementsAre(path));
  }
}

TEST(FilePatterns, TheFolderOfAWildcardIsAboveIt) {
  EXPECT_TRUE(is_wildcard("a?b"));
  EXPECT_FALSE(is_wildcard("a{1..2}b"));
  EXPECT_EQ(folder_of_wildcard("/data/a/x-*/b"), "/data/a");
  EXPECT_EQ(folder_of_wildcard("/x[12]"), "/");
  EXPECT_EQ(folder_of_wildcard("x*"), ".");
}

TEST(FilePatterns, AWildcardIsLookedForInFewFolders) {
  int asked = 0;
  const ListFolder list = [&asked](const std::string& path, std::size_t) -> Result<FolderNames> {
    ++asked;
    if (path == "/d") return FolderNames{{{"a-1", true}, {"a-2", true}, {"a.tar", false}}, true};
    if (path == "/d/a-1") return FolderNames{{{".x.tar", false}}, true};
    if (path == "/d/a-2") return FolderNames{{{"x.tar", false}}, true};
    if (path == "/large") return FolderNames{{{"x.jpg", false}}, false};
    return Error{"cannot read the folder"};
  };
  EXPECT_EQ(matches_any("/d/*.tar", list), true);
  EXPECT_EQ(matches_any("/d/nope*.tar", list), false);
  EXPECT_EQ(matches_any("/d/a-?/x.tar", list), true);
  EXPECT_EQ(matches_any("/d/a-1*/*.tar", list), false) << "hidden names are none";
  EXPECT_EQ(matches_any("/d/a.*/x", list), false) << "no folder";
  EXPECT_EQ(matches_any("/large/*.tar", list), std::nullopt);
  EXPECT_EQ(matches_any("/secret/*", list), std::nullopt);
  asked = 0;
  const ListFolder deep = [&asked](const std::string&, std::size_t) -> Result<FolderNames> {
    ++asked;
    return FolderNames{{{"a", true}, {"b", true}}, true};
  };
  EXPECT_EQ(matches_any("/?/?/?/?/?/?/?/?/?/x", deep), std::nullopt);
  EXPECT_LE(asked, 64);
}

TEST(PathStamp, IsItsSizeAndWhenItChanged) {
  const TemporaryFolder folder;
  const std::string path = folder.write("x", "hello");
  const auto before = stamp_of(path);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->bytes, 5u);
  const auto time = std::filesystem::last_write_time(path) - std::chrono::hours(1);
  std::filesystem::last_write_time(path, time);
  const std::int64_t hour_ns = std::int64_t{3600} * 1'000'000'000;
  EXPECT_EQ(stamp_of(path)->changed_ns, before->changed_ns - hour_ns);
  std::filesystem::create_symlink(path, folder.path() / "link");
  EXPECT_EQ(stamp_of(folder.path() / "link")->bytes, 5u);
}

TEST(PathStamp, OfNothingThereIsNone) { EXPECT_FALSE(stamp_of("/nowhere/at/all")); }

}  // namespace
}  // namespace brigade
