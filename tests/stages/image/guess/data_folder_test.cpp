#include "stages/image/guess/data_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>

#include <brigade/text.h>
#include "stages/image/guess/data_table.h"
#include "tests/support/images/tar_files.h"
#include "tests/support/message_of.h"
#include "tests/support/other_user.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using Kind = FoundData::Kind;
using testing::ElementsAre;
using testing::HasSubstr;

struct DataFolder : testing::Test {
  TemporaryFolder folder;

  void files(std::initializer_list<const char*> names) {
    for (const char* name : names) folder.write(name, "");
  }
  std::string path(const std::string& name) const { return folder.path() / name; }
  FoundData look(const std::string& name = ".") {
    auto found = look_at_data(path(name));
    EXPECT_TRUE(found.ok()) << found.error().message;
    return found.ok() ? *found : FoundData();
  }
  std::string error(const std::string& name = ".") { return message_of(look_at_data(path(name))); }
};

TEST_F(DataFolder, LinksAreFollowedAndRoundOnesEnd) {
  files({"store/cat/1.jpg", "store/dog/1.jpg"});
  std::filesystem::create_directory(path("data"));
  for (const char* name : {"cat", "dog"})
    std::filesystem::create_directory_symlink(path("store") + "/" + name, path("data/") + name);
  EXPECT_THAT(look("data").classes, ElementsAre("cat", "dog"));
  std::filesystem::create_directory(path("round"));
  std::filesystem::create_directory_symlink(path("round"), path("round/again"));
  EXPECT_THAT(error("round"), HasSubstr("found no class folders"));
}

/// As a user who may not read what nobody may.
void expect_as_user(const std::function<bool()>& holds) {
  if (testing_support::may_become_another_user())
    testing_support::as_other_user(holds);
  else
    EXPECT_TRUE(holds());
}

TEST_F(DataFolder, ThatCannotBeReadIsAnErrorButNotBesideTheData) {
  files({"data/cat/1.jpg", "data/dog/1.jpg", "beside/lost+found/none"});
  for (const char* name : {"data/dog", "beside/lost+found"})
    std::filesystem::permissions(path(name), std::filesystem::perms::none);
  const auto is_said = [&](const std::string& name, const std::string& what) {
    return error(name).ends_with(what + ": cannot read the folder: Permission denied");
  };
  expect_as_user([&] { return is_said("data", "/data/dog"); });
  folder.write("beside/table.csv", "a,b,label\n1,2,0\n3,4,1\n");
  expect_as_user([&] { return look("beside").kind == Kind::numbers; });
  std::filesystem::remove(path("beside/table.csv"));
  expect_as_user([&] { return is_said("beside", "/lost+found"); });
  for (const char* name : {"data/dog", "beside/lost+found"})
    std::filesystem::permissions(path(name), std::filesystem::perms::all);
}

TEST_F(DataFolder, PipesAreNotWaitedFor) {
  std::filesystem::create_directory(path("pipes"));
  ASSERT_EQ(mkfifo(path("pipes/train.csv").c_str(), 0600), 0);
  EXPECT_THAT(error("pipes"), HasSubstr("/pipes: found no class folders"));
  ASSERT_EQ(mkfifo(path("pipes/train-0.tar").c_str(), 0600), 0);
  EXPECT_THAT(error("pipes"), HasSubstr("/train-0.tar: expected a regular file"));
  EXPECT_THAT(error("pipes/train-0.tar"), HasSubstr("/train-0.tar: expected a regular file"));
  EXPECT_THAT(error("pipes/train.csv"), HasSubstr("/train.csv: expected a folder of data"));
}

TEST_F(DataFolder, LinksBelowClassesAreNotFollowed) {
  files({"data/cat/sub/1.jpg", "data/dog/1.jpg", "round/none.txt"});
  for (const char* name : {"data/cat", "round"})
    for (int i = 0; i < 64; ++i)
      std::filesystem::create_directory_symlink(".", concat(path(name), "/l", i));
  EXPECT_THAT(look("data").classes, ElementsAre("cat", "dog"));
  EXPECT_THAT(error("round"), HasSubstr("/round: found no class folders"));
}

TEST_F(DataFolder, OfMoreClassesThanAreLookedIntoHasAllOfThem) {
  constexpr int kClasses = 2'050;
  files({"train/0/1.jpg", "store/none.txt"});
  for (int i = 1; i < kClasses; ++i)
    std::filesystem::create_directory_symlink("../store", path(concat("train/", i)));
  EXPECT_THAT(error(), HasSubstr("/train: no images in 1, 10, 100"));
  files({"store/1.jpg"});
  EXPECT_EQ(look().classes.size(), kClasses);
}

}  // namespace
}  // namespace brigade
