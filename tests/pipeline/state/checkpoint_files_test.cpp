#include "pipeline/state/checkpoint_files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/shared_path.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

class CheckpointFiles : public testing::Test {
 protected:
  static PositionFile at(std::uint64_t index) {
    Position position;
    position.run = "1-2";
    position.queues = {{0, index}};
    return {"train", "a.type = b\n", {position}};
  }
  Result<void> write(const std::string& saved, std::uint64_t index) {
    return write_checkpoint(state, saved, position, at(index));
  }
  std::uint64_t index() {
    const auto file = read_checkpoint(state, position);
    EXPECT_TRUE(file.ok()) << file.error().message;
    if (!file.ok() || file->entries.empty()) return ~std::uint64_t{0};
    EXPECT_EQ(file->entries.size(), 1u);
    return file->entries[0].queues[0].index;
  }
  std::string refusal() {
    const auto file = read_checkpoint(state, position);
    return file.ok() ? "" : file.error().message;
  }
  static void put(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  TemporaryFolder folder;
  const std::string state = (folder.path() / "model.pt").string();
  const std::string position = state + ".position";
};

TEST_F(CheckpointFiles, WhereNothingIsThereIsNoCheckpoint) {
  const auto file = read_checkpoint(state, position);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->entries.empty());
}

TEST_F(CheckpointFiles, TheSavedBytesAreTheFile) {
  ASSERT_TRUE(write(std::string("a\0b", 3), 10).ok());
  EXPECT_EQ(*read_whole_file(state), std::string("a\0b", 3));
  EXPECT_EQ(index(), 10u);
  ASSERT_TRUE(write("next", 20).ok());
  EXPECT_EQ(*read_whole_file(state), "next");
  EXPECT_EQ(index(), 20u);
  const std::filesystem::directory_iterator files(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 2) << "nothing but the two is left";
}

TEST_F(CheckpointFiles, BetweenTheTwoRenamesTheOldOneHolds) {
  ASSERT_TRUE(write("old", 10).ok());
  ASSERT_TRUE(write("new", 20).ok());
  // As it lay there before the second file was renamed.
  put(state, "old");
  EXPECT_EQ(index(), 10u);
  put(state, "new");
  EXPECT_EQ(index(), 20u);
}

TEST_F(CheckpointFiles, BeforeTheFirstOneIsWholeThereIsNone) {
  ASSERT_TRUE(write("first", 10).ok());
  std::filesystem::remove(state);  // as it lay there before the file was renamed
  const auto file = read_checkpoint(state, position);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_TRUE(file->entries.empty());
  ASSERT_TRUE(write("again", 20).ok());
  EXPECT_EQ(index(), 20u);
}

TEST_F(CheckpointFiles, AWriterThatGoesOnAfterSuchAnEndKeepsWhatIsThere) {
  ASSERT_TRUE(write("old", 10).ok());
  ASSERT_TRUE(write("lost", 20).ok());
  put(state, "old");
  ASSERT_TRUE(write("new", 30).ok());
  put(state, "old");
  EXPECT_EQ(index(), 10u);
}

TEST_F(CheckpointFiles, AConsumerThatSavesNothingHasAPositionOnly) {
  ASSERT_TRUE(write_checkpoint("", "", position, at(7)).ok());
  const auto file = read_checkpoint("", position);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->entries.at(0).queues.at(0).index, 7u);
  EXPECT_FALSE(std::filesystem::exists(state));
}

TEST_F(CheckpointFiles, FilesThatDoNotBelongTogetherAreNamed) {
  ASSERT_TRUE(write("old", 10).ok());
  ASSERT_TRUE(write("next", 20).ok());
  put(state, "foreign");
  EXPECT_EQ(refusal(), position + " does not belong to " + state +
                           ", which something else wrote; delete it to restart");
  std::filesystem::remove(state);
  EXPECT_NE(refusal().find("restore it, or delete both"), std::string::npos) << refusal();
  std::filesystem::remove(position);
  put(state, "old");
  EXPECT_NE(refusal().find("has no position file"), std::string::npos) << refusal();
}

TEST_F(CheckpointFiles, ABrokenPositionIsNamed) {
  put(position, "{\"brigade_position\": 3");
  EXPECT_EQ(refusal().rfind(position + ": it cannot be read: ", 0), 0u) << refusal();
  EXPECT_NE(refusal().find("delete it to restart"), std::string::npos);
}

TEST_F(CheckpointFiles, EachByteOfAPositionIsCheckedAndItsLength) {
  const std::string whole = position_to_bytes(at(640));
  ASSERT_TRUE(position_from_bytes(whole).ok()) << "the control";
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = damaged[i] == '7' ? '8' : '7';  // a digit is the worst that may be another
    EXPECT_FALSE(position_from_bytes(damaged).ok()) << i << ' ' << whole.substr(i, 20);
    EXPECT_FALSE(position_from_bytes(whole.substr(0, i)).ok()) << i;
  }
  EXPECT_FALSE(position_from_bytes(whole + "\n").ok());
  ASSERT_TRUE(write("state", 640).ok());
  std::string moved = *read_whole_file(position);
  moved.replace(moved.find("640"), 3, "740");
  put(position, moved);
  EXPECT_EQ(refusal(), position +
                           ": it is damaged: its checksum does not match; delete it to restart, or "
                           "run without --resume");
}

TEST_F(CheckpointFiles, APositionOfAnOlderVersionSaysSo) {
  std::string older = position_to_json(at(640));
  older.replace(older.find(": 3,"), 4, ": 2,");
  put(position, older);
  EXPECT_EQ(refusal().rfind(position + ": it cannot be read: it has version 2, expected 3", 0), 0u)
      << refusal();
}

TEST_F(CheckpointFiles, WhereNothingCanBeWrittenTheOldOneStays) {
  ASSERT_TRUE(write("old", 10).ok());
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handled = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit full_disk{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full_disk);
  const auto written = write(std::string(4096, 'x'), 20);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handled);
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().message.find("the previous file is intact"), std::string::npos);
  EXPECT_EQ(index(), 10u);
}

TEST(Digest, HasTheSizeAndAHashOfFixedWidth) {
  EXPECT_EQ(digest_of(""), "0 bytes, xxh3 2d06800538d394c2");  // the reference implementation's
  EXPECT_NE(digest_of("a"), digest_of("b"));
}

}  // namespace
}  // namespace brigade
