#include "stages/image/index/tar_index.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "tests/support/images/tar_files.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;
namespace fs = std::filesystem;

class TarIndexTest : public testing::Test {
 protected:
  TarIndexTest() {
    shards_.push_back(folder_.write("b.tar", tar_member("1.jpg", "x") + tar_member("1.cls", "4") +
                                                 tar_member("2.jpg", "xy") +
                                                 tar_member("2.cls", "5") + tar_end()));
    shards_.push_back(folder_.write("empty.tar", tar_end()));
    shards_.push_back(folder_.write("a.tar", tar_member("1.jpg", "xyz") + tar_member("1.cls", "6") +
                                                 tar_member("1.txt", "words") + tar_end()));
    grow_old();
  }

  void grow_old() {
    for (const std::string& shard : shards_)
      fs::last_write_time(shard, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }

  TarIndex scan() {
    bytes_ = TarIndex::scan(shards_, fields_).value();
    file_ = IndexFile::parse(bytes_, IndexKind::tar_shards).value();
    return TarIndex::of(file_, shards_.size(), fields_).value();
  }

  TemporaryFolder folder_;
  std::vector<std::string> shards_;
  TarFields fields_{{"jpg"}, {"cls"}, "", {"txt"}};
  std::string bytes_;
  IndexFile file_;
};

TEST_F(TarIndexTest, SamplesAreNumberedShardAfterShard) {
  const TarIndex index = scan();
  ASSERT_EQ(index.size(), 3u);
  std::string found;
  for (std::uint64_t i = 0; i < 3; ++i)
    found += std::to_string(index.shard(i)) + ":" + std::string(index.key(i)) + "=" +
             std::to_string(index.at(i).label) + " ";
  EXPECT_EQ(found, "0:1=4 0:2=5 2:1=6 ");
  EXPECT_EQ(index.extra(0, 0).offset, 0u);
  EXPECT_EQ(index.extra(2, 0).size, 5u);
  EXPECT_EQ(TarIndex::shards_of(file_), shards_);
}

TEST_F(TarIndexTest, IsCurrentForTheSameArchivesAndWishes) {
  scan();
  EXPECT_TRUE(TarIndex::is_current(file_, shards_, fields_));
  TarFields other = fields_;
  other.extra = {};
  EXPECT_FALSE(TarIndex::is_current(file_, shards_, other));
  std::vector<std::string> fewer(shards_.begin(), shards_.end() - 1);
  EXPECT_FALSE(TarIndex::is_current(file_, fewer, fields_));
  fs::last_write_time(shards_[1], fs::file_time_type::clock::now());
  EXPECT_FALSE(TarIndex::is_current(file_, shards_, fields_));
  scan();
  EXPECT_FALSE(TarIndex::is_current(file_, shards_, fields_)) << "too recent to be sure";
  grow_old();
  scan();
  EXPECT_TRUE(TarIndex::is_current(file_, shards_, fields_));
  fs::remove(shards_[0]);
  EXPECT_FALSE(TarIndex::is_current(file_, shards_, fields_));
}

TEST_F(TarIndexTest, TheFingerprintDoesNotDependOnWhereTheArchivesAre) {
  scan();
  const std::uint64_t before = file_.fingerprint();
  for (std::string& shard : shards_) {
    fs::rename(shard, shard + ".moved");
    shard += ".moved";
  }
  scan();
  EXPECT_EQ(file_.fingerprint(), before);
  std::swap(shards_[0], shards_[2]);
  scan();
  EXPECT_NE(file_.fingerprint(), before);
}

TEST_F(TarIndexTest, NamesOfClassesAreInTheIndex) {
  for (std::size_t s = 0; s < 2; ++s)
    folder_.write(
        s == 0 ? "b.tar" : "a.tar",
        tar_member("1.jpg", "x") + tar_member("1.cls", s == 0 ? "dog" : "cat") + tar_end());
  grow_old();
  fields_.names = true;
  const TarIndex index = scan();
  EXPECT_EQ(index.classes(), "cat\ndog\n");
  EXPECT_EQ(index.class_count(), 2u);
  EXPECT_TRUE(index.has_class("dog"));
  EXPECT_FALSE(index.has_class("do"));
  EXPECT_EQ(index.at(0).label, 1);
  EXPECT_EQ(index.at(1).label, 0);
  EXPECT_TRUE(TarIndex::is_current(file_, shards_, fields_));
  TarFields numbers = fields_;
  numbers.names = false;
  EXPECT_FALSE(TarIndex::is_current(file_, shards_, numbers));
}

TEST_F(TarIndexTest, AnotherFileOfClassesIsAnotherWish) {
  const auto then = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fields_.names = true;
  fields_.classes = folder_.write("classes", "4\n5\n6\n");
  fs::last_write_time(fields_.classes, then);
  scan();
  EXPECT_EQ(TarIndex::shards_of(file_), shards_);
  EXPECT_TRUE(TarIndex::is_current(file_, shards_, fields_));
  folder_.write("classes", "6\n5\n4\n");
  EXPECT_FALSE(TarIndex::is_current(file_, shards_, fields_));
  fs::last_write_time(fields_.classes, then);
  EXPECT_TRUE(TarIndex::is_current(file_, shards_, fields_)) << "by its size and time, as archives";
  fs::remove(fields_.classes);
  EXPECT_FALSE(TarIndex::is_current(file_, shards_, fields_));
}

}  // namespace
}  // namespace brigade
