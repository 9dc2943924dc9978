#include "stages/image/index/image_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "stages/image/index/made_from.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

class ImageIndexTest : public testing::Test {
 protected:
  std::string error_of(const std::string& root) { return message_of(ImageIndex::scan(root)); }
  /// The bytes are kept until the next call.
  ImageIndex scan(const std::string& root) {
    bytes_ = ImageIndex::scan(root).value();
    file_ = IndexFile::parse(bytes_, IndexKind::image_folder).value();
    return ImageIndex::of(file_).value();
  }

  TemporaryFolder folder_;
  const std::string root_ = folder_.path();
  std::string bytes_;
  IndexFile file_;
};

TEST_F(ImageIndexTest, FollowsLinksButNotRoundAndRound) {
  namespace fs = std::filesystem;
  folder_.write("elsewhere/1.jpg", "");
  fs::create_directories(folder_.path() / "data");
  fs::create_directory_symlink("../elsewhere", folder_.path() / "data/a");
  const ImageIndex index = scan(root_ + "/data");
  EXPECT_EQ(index.path(0), "a/1.jpg");
  fs::create_directory_symlink(".", folder_.path() / "elsewhere/again");
  const std::string error = error_of(root_ + "/data");
  EXPECT_TRUE(error.starts_with(root_ + "/data/a/again/again")) << error;
  EXPECT_TRUE(error.ends_with(": more than 32 nested folders; check for a link that forms a loop"))
      << error;
}

/// As if the folders had been there for long: what changed right before a look may change again
/// without showing.
void grow_old(const std::filesystem::path& root) {
  namespace fs = std::filesystem;
  const auto then = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.is_directory()) fs::last_write_time(entry.path(), then);
  fs::last_write_time(root, then);
}

TEST_F(ImageIndexTest, IsCurrentUntilAFolderChanges) {
  namespace fs = std::filesystem;
  for (const char* name : {"a/1.jpg", "a/sub/2.jpg", "b/3.jpg", "a/empty/x.txt"})
    folder_.write(name, "");
  scan(root_);
  EXPECT_FALSE(ImageIndex::is_current(file_, root_)) << "it may change just now";
  grow_old(root_);
  scan(root_);
  EXPECT_TRUE(ImageIndex::is_current(file_, root_));
  folder_.write("a/1.jpg", "rewritten");
  EXPECT_TRUE(ImageIndex::is_current(file_, root_)) << "the list is the same";
  EXPECT_FALSE(ImageIndex::is_current(file_, root_ + "/a"));
  for (const char* change : {"a/4.jpg", "c/5.jpg", "a/sub/6.jpg", "a/empty/7.jpg"}) {
    folder_.write(change, "");
    EXPECT_FALSE(ImageIndex::is_current(file_, root_)) << change;
    grow_old(root_);
    scan(root_);
    EXPECT_TRUE(ImageIndex::is_current(file_, root_)) << change;
  }
  fs::remove(root_ + "/b/3.jpg");
  EXPECT_FALSE(ImageIndex::is_current(file_, root_));
}

TEST_F(ImageIndexTest, AFolderThatEndsBehindAllFoldersIsDamage) {
  for (const char* name : {"a/1.jpg", "b/2.jpg"}) folder_.write(name, "");
  const ImageIndex index = scan(root_);
  EXPECT_EQ(index.path(1), "b/2.jpg");
  const_cast<ImageRun&>(file_.of<ImageRun>(2)[1]).folder_bytes = 2;
  EXPECT_EQ(message_of(index.at(1)), "the index is damaged at image 1");
}

TEST_F(ImageIndexTest, EqualListsHaveEqualFingerprints) {
  folder_.write("a/1.jpg", "");
  folder_.write("a/2.jpg", "");
  scan(root_);
  const std::uint64_t before = file_.fingerprint();
  grow_old(root_);
  scan(root_);
  EXPECT_EQ(file_.fingerprint(), before);
  std::filesystem::rename(root_ + "/a/2.jpg", root_ + "/a/3.jpg");
  scan(root_);
  EXPECT_NE(file_.fingerprint(), before);
}

}  // namespace
}  // namespace brigade
