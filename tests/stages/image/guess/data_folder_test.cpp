#include "stages/image/guess/data_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

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

std::string tar_bytes(std::initializer_list<std::pair<const char*, const char*>> members) {
  std::string bytes;
  for (const auto& [name, data] : members) bytes += testing_support::tar_member(name, data);
  return bytes + testing_support::tar_end();
}

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

TEST_F(DataFolder, OfIdxFiles) {
  files({"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz",
         "t10k-labels-idx1-ubyte.gz"});
  EXPECT_EQ(look().kind, Kind::idx);
  EXPECT_EQ(look().images, "train-images-idx3-ubyte.gz");
  EXPECT_EQ(look().test_labels, "t10k-labels-idx1-ubyte.gz");
}

TEST_F(DataFolder, OfClassesWithTheUsualNamesForTraining) {
  for (const auto& [train, test] :
       {std::pair("train", "val"), std::pair("train", "test"), std::pair("Train", "validation"),
        std::pair("training", "Validation"), std::pair("TRAIN", "dev")}) {
    const TemporaryFolder data;
    for (const char* part : {train, test})
      for (const char* name : {"cat/a.JPG", "dog/sub/deep/b.Png"})
        data.write(concat(part, "/", name), "");
    const FoundData found = look_at_data(data.path()).value();
    EXPECT_EQ(found.kind, Kind::classes);
    EXPECT_EQ(found.train, train);
    EXPECT_EQ(found.test, test);
    EXPECT_THAT(found.classes, ElementsAre("cat", "dog"));
    EXPECT_EQ(found.remark, "");
  }
}

TEST_F(DataFolder, OfClassesThatOnlyTrain) {
  files({"train/cat/1.jpg", "train/dog/1.jpg", "readme.txt"});
  EXPECT_EQ(look().remark, "there is no folder val beside train");
  EXPECT_EQ(look().test, "");
  const FoundData alone = look("train");
  EXPECT_EQ(alone.kind, Kind::classes);
  EXPECT_EQ(alone.folder, std::filesystem::canonical(path("train")).string());
  EXPECT_EQ(alone.train, "");
}

TEST_F(DataFolder, WithFoldersInEachOther) {
  files({"birds/images/train/images/cat/1.jpg", "birds/images/train/images/dog/1.jpg",
         "birds/images/val/cat/1.jpg", "birds/images/val/dog/1.jpg"});
  const FoundData found = look();
  EXPECT_EQ(found.folder, std::filesystem::canonical(path("birds/images")).string());
  EXPECT_EQ(found.train, "train/images");
  EXPECT_EQ(found.test, "val");
}

TEST_F(DataFolder, WithOtherClassesToEvaluateSaysWhich) {
  files({"train/cat/1.jpg", "train/dog/1.jpg", "val/cat/1.jpg", "val/emu/1.jpg"});
  EXPECT_EQ(look().test, "");
  EXPECT_EQ(look().remark,
            "val is not used to evaluate: its classes are others: it lacks dog, and it alone has "
            "emu");
  std::filesystem::remove_all(path("val"));
  files({"val/1.jpg", "val/2.jpg"});
  EXPECT_EQ(look().remark, "val is not used to evaluate: it has no folders of classes with images");
}

TEST_F(DataFolder, WithAClassWithoutImagesIsRefused) {
  files({"cat/1.jpg", "dog/1.jpg", "scripts/run.sh"});
  EXPECT_EQ(error(), std::filesystem::canonical(folder.path()).string() +
                         ": there are no images in scripts, but in cat, dog: every folder there is "
                         "a class; take it away, or fill it");
}

TEST_F(DataFolder, AClassMayBeCalledTrain) {
  files({"train/1.jpg", "bus/1.jpg", "tram/1.jpg"});
  EXPECT_THAT(look().classes, ElementsAre("bus", "train", "tram"));
}

TEST_F(DataFolder, LinksAreFollowedAndRoundOnesEnd) {
  files({"store/cat/1.jpg", "store/dog/1.jpg"});
  std::filesystem::create_directory(path("data"));
  for (const char* name : {"cat", "dog"})
    std::filesystem::create_directory_symlink(path("store") + "/" + name, path("data/") + name);
  EXPECT_THAT(look("data").classes, ElementsAre("cat", "dog"));
  std::filesystem::create_directory(path("round"));
  std::filesystem::create_directory_symlink(path("round"), path("round/again"));
  EXPECT_THAT(error("round"), HasSubstr("found none of a folder of images per class"));
}

TEST_F(DataFolder, WithoutFoldersOfClassesNamesTheWayWithoutLabels) {
  files({"flat/a.jpeg", "flat/b.jpeg"});
  const std::string flat = std::filesystem::canonical(path("flat"));
  EXPECT_EQ(error("flat"), flat + ": has images, but no folders of classes (" + flat +
                               "/CLASS/*.jpg); for a graph without labels write a list of them and "
                               "name it: `find " +
                               flat + " -name '*.jpeg' > images.txt && brigade init images.txt`");
}

TEST_F(DataFolder, WithNothingIsAnError) {
  std::filesystem::create_directory(path("empty"));
  EXPECT_THAT(error("empty"), HasSubstr("/empty: is empty; expected a folder of images per class"));
  files({"other/notes.md"});
  EXPECT_THAT(error("other"), HasSubstr("/other: found none of a folder of images per class"));
  EXPECT_THAT(error("other/notes.md"), HasSubstr("expected a folder of data, a table"));
  EXPECT_EQ(error("none"), "cannot look at " + path("none") + ": No such file or directory");
}

TEST_F(DataFolder, ThatCannotBeReadIsAnError) {
  files({"data/cat/1.jpg", "data/dog/1.jpg"});
  std::filesystem::permissions(path("data/dog"), std::filesystem::perms::none);
  const auto is_said = [&] {
    return error("data").ends_with("/data/dog: cannot read the folder: Permission denied");
  };
  if (testing_support::may_become_another_user()) {
    testing_support::as_other_user(is_said);
  } else {
    EXPECT_TRUE(is_said());
  }
  std::filesystem::permissions(path("data/dog"), std::filesystem::perms::all);
}

TEST_F(DataFolder, ThatCannotBeReadBesideTheDataDoesNotMatter) {
  files({"lost+found/none"});
  folder.write("table.csv", "a,b,label\n1,2,0\n3,4,1\n");
  std::filesystem::permissions(path("lost+found"), std::filesystem::perms::none);
  const auto is_found = [&] { return look().kind == Kind::numbers; };
  const auto is_said = [&] {
    std::filesystem::remove(path("table.csv"));
    return error().ends_with("/lost+found: cannot read the folder: Permission denied");
  };
  if (testing_support::may_become_another_user()) {
    testing_support::as_other_user(is_found);
    std::filesystem::remove(path("table.csv"));
    testing_support::as_other_user(is_said);
  } else {
    EXPECT_TRUE(is_found());
    EXPECT_TRUE(is_said());
  }
  std::filesystem::permissions(path("lost+found"), std::filesystem::perms::all);
}

TEST_F(DataFolder, PipesAreNotWaitedFor) {
  std::filesystem::create_directory(path("pipes"));
  ASSERT_EQ(mkfifo(path("pipes/train.csv").c_str(), 0600), 0);
  EXPECT_THAT(error("pipes"), HasSubstr("/pipes: found none of a folder of images per class"));
  ASSERT_EQ(mkfifo(path("pipes/train-0.tar").c_str(), 0600), 0);
  EXPECT_THAT(error("pipes"), HasSubstr("/train-0.tar: it is a folder, a pipe or a device, not"));
  EXPECT_THAT(error("pipes/train-0.tar"), HasSubstr("/train-0.tar: it is a folder, a pipe or"));
  EXPECT_THAT(error("pipes/train.csv"), HasSubstr("/train.csv: expected a folder of data"));
}

TEST_F(DataFolder, LinksBelowClassesAreNotFollowed) {
  files({"data/cat/sub/1.jpg", "data/dog/1.jpg", "round/none.txt"});
  for (const char* name : {"data/cat", "round"})
    for (int i = 0; i < 64; ++i)
      std::filesystem::create_directory_symlink(".", concat(path(name), "/l", i));
  EXPECT_THAT(look("data").classes, ElementsAre("cat", "dog"));
  EXPECT_THAT(error("round"), HasSubstr("/round: found none of a folder of images per class"));
}

TEST_F(DataFolder, OfMoreClassesThanAreLookedIntoHasAllOfThem) {
  constexpr int kClasses = 2'050;
  files({"train/0/1.jpg", "store/none.txt"});
  for (int i = 1; i < kClasses; ++i)
    std::filesystem::create_directory_symlink("../store", path(concat("train/", i)));
  EXPECT_THAT(error(), HasSubstr("/train: there are no images in 1, 10, 100"));
  files({"store/1.jpg"});
  EXPECT_EQ(look().classes.size(), kClasses);
}

TEST_F(DataFolder, OfArchives) {
  const std::string shard = tar_bytes({{"a.jpg", "x"}, {"a.cls", "1"}});
  for (const char* name : {"train-000.tar", "train-001.tar", "val-000.tar"})
    folder.write(name, shard);
  const FoundData found = look();
  EXPECT_EQ(found.kind, Kind::shards);
  EXPECT_EQ(found.train, "train-*.tar");
  EXPECT_EQ(found.test, "val-000.tar");
  EXPECT_EQ(found.label, "cls");
  EXPECT_EQ(found.image, "");
  folder.write("split/train/0.tar",
               tar_bytes({{"a.image.png", "x"}, {"a.meta.json", R"({"label": 3})"}}));
  const FoundData split = look("split");
  EXPECT_EQ(split.train, "train/0.tar");
  EXPECT_EQ(split.image, "image.png");
  EXPECT_EQ(split.label, "meta.json");
  EXPECT_EQ(split.label_field, "label");
  EXPECT_FALSE(found.label_is_name || split.label_is_name);
  folder.write("words/0.tar", tar_bytes({{"a.jpg", "x"}, {"a.txt", "cat\n"}}));
  EXPECT_EQ(look("words").label, "txt");
  EXPECT_TRUE(look("words").label_is_name);
  folder.write("named/0.tar", tar_bytes({{"a.jpg", "x"}, {"a.txt", "a cat"}, {"a.cls", "cat"}}));
  EXPECT_EQ(look("named").label, "cls");
  EXPECT_TRUE(look("named").label_is_name);
  folder.write("captions/0.tar", tar_bytes({{"a.jpg", "x"}, {"a.txt", "a cat"}}));
  EXPECT_EQ(look("captions").label, "");
  folder.write("json/0.tar", tar_bytes({{"a.jpg", "x"}, {"a.json", R"({"class": "cat"})"}}));
  EXPECT_EQ(look("json").label_field, "class");
  EXPECT_TRUE(look("json").label_is_name);
  folder.write("texts/0.tar", tar_bytes({{"a.txt", "x"}}));
  EXPECT_THAT(error("texts"), HasSubstr("/texts/0.tar: has no images in its first members; "
                                        "extensions seen: .txt"));
  folder.write("packed/0.tar.gz", "");
  EXPECT_THAT(error("packed"),
              HasSubstr("/packed/0.tar.gz: is compressed (gzip), so nothing in it"));
}

TEST_F(DataFolder, OfATableOfImages) {
  files({"images/1.jpg", "images/2.jpg"});
  folder.write("train.csv", "file;breed\n1.jpg;cat\n2.jpg;dog\n");
  const FoundData found = look();
  EXPECT_EQ(found.kind, Kind::list);
  EXPECT_EQ(found.table, "train.csv");
  EXPECT_EQ(found.root, "images");
  EXPECT_EQ(found.separator, ";");
  EXPECT_EQ(found.image, "file");
  EXPECT_EQ(found.label, "breed");
  EXPECT_TRUE(found.label_is_name);
  EXPECT_EQ(found.test, "");
  folder.write("test.csv", "file;breed\n7.jpg;cat\n");
  EXPECT_EQ(look().test, "") << "its images are not there";
  folder.write("test.csv", "file;race\n2.jpg;cat\n");
  EXPECT_EQ(look().test, "") << "it has other columns";
  folder.write("test.csv", "file;breed\n2.jpg;cat\n");
  EXPECT_EQ(look().test, "test.csv");
  for (const char* name : {"dev.csv", "eval.csv", "eval_list.csv"}) {
    const std::string other = concat("other/", name);
    folder.write(other, "file;breed\n../images/2.jpg;cat\n");
    EXPECT_EQ(look("other").table, name) << "there is no other";
    folder.write("other/list.csv", "file;breed\n../images/1.jpg;cat\n");
    EXPECT_EQ(look("other").table, "list.csv");
    EXPECT_EQ(look("other").test, name);
    std::filesystem::remove_all(path("other"));
  }
  folder.write("train.csv", "file;breed\n7.jpg;cat\n");
  EXPECT_THAT(error(), HasSubstr("/train.csv: its first image, 7.jpg, lies neither in "));
}

TEST(DataTable, IsKnownByItsFirstLines) {
  const auto bare = guess_table("a/1.jpg 3\na/2.jpg 4\n").value();
  EXPECT_EQ(bare.separator, " ");
  EXPECT_FALSE(bare.header);
  EXPECT_EQ(bare.image, "1");
  EXPECT_EQ(bare.label, "2");
  EXPECT_FALSE(bare.label_is_name);
  const auto cut = guess_table("id,path,Target\n1,x.png,2\n2,y.pn").value();
  EXPECT_EQ(cut.image, "path");
  EXPECT_EQ(cut.label, "Target");
  EXPECT_THAT(cut.numbers, ElementsAre("id"));
  const auto numbers = guess_table("1\t2\n3\t4\n").value();
  EXPECT_EQ(numbers.separator, "\t");
  EXPECT_THAT(numbers.numbers, ElementsAre("1", "2"));
  EXPECT_EQ(guess_table("some words\nof a text\n"), std::nullopt);
  EXPECT_EQ(guess_table("one line of words only"), std::nullopt);
  EXPECT_EQ(guess_table(""), std::nullopt);
  EXPECT_EQ(guess_table(std::string_view("\0\1", 2)), std::nullopt);
}

}  // namespace
}  // namespace brigade
