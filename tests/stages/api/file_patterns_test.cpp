#include "stages/api/file_patterns.h"
#include <brigade/path_stamp.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::ElementsAre;

TEST(FilePatterns, BracesAreRangesAndLists) {
  EXPECT_THAT(expand_braces("a.tar").value(), ElementsAre("a.tar"));
  EXPECT_THAT(expand_braces("x-{08..11}.tar").value(),
              ElementsAre("x-08.tar", "x-09.tar", "x-10.tar", "x-11.tar"));
  EXPECT_THAT(expand_braces("{9..10}").value(), ElementsAre("9", "10"));
  EXPECT_THAT(expand_braces("{b,a}{0..1}").value(), ElementsAre("b0", "b1", "a0", "a1"));
  EXPECT_THAT(expand_braces("x{,.bak}").value(), ElementsAre("x", "x.bak"));
  EXPECT_THAT(expand_all_braces({"b{1..2}", "a*"}).value(), ElementsAre("b1", "b2", "a*"));
  EXPECT_FALSE(expand_all_braces({"a", "b{"}));
}

TEST(FilePatterns, BracesThatAreWrongAreShown) {
  const auto error = [](const char* pattern) { return expand_braces(pattern).error().message; };
  EXPECT_EQ(error("x-{0..1.tar"), "in \"x-{0..1.tar\" a { is not closed by a }");
  for (const char* inside : {"{}", "{a}", "{1..}", "{2..1}", "{a..c}", "{-1..2}", "{a,{b}"})
    EXPECT_EQ(error(inside), "in \"" + std::string(inside) +
                                 "\" expected a range such as {000..146} or a list such as {a,b}, "
                                 "found \"" +
                                 inside + "\"");
  EXPECT_EQ(error("{0..1000000}"), "\"{0..1000000}\" stands for more than 1,000,000 files");
  EXPECT_EQ(error("{0..9999}{0..9999}"),
            "\"{0..9999}{0..9999}\" stands for more than 1,000,000 files");
  EXPECT_EQ(error("{0..18446744073709551615}"),
            "\"{0..18446744073709551615}\" stands for more than 1,000,000 files");
}

TEST(FilePatterns, WildcardsAreWhatIsThereSortedBytewise) {
  TemporaryFolder folder;
  for (const char* name : {"b-2.tar", "b-10.tar", "B-1.tar", "c.txt"}) folder.write(name, "");
  const std::string root = folder.path();
  EXPECT_THAT(list_files({root + "/*.tar"}).value(),
              ElementsAre(root + "/B-1.tar", root + "/b-10.tar", root + "/b-2.tar"));
  EXPECT_THAT(list_files({root + "/c.txt", root + "/{none,b-?}.tar"}).value(),
              ElementsAre(root + "/c.txt", root + "/none.tar", root + "/b-2.tar"));
  EXPECT_EQ(list_files({root + "/*.zip"}).error().message, root + "/*.zip: there is no such file");
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
