#include "stages/image/index/saved_index.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include <brigade/harness.h>
#include "tests/support/other_user.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;

class SavedIndexTest : public testing::Test {
 protected:
  SavedIndexTest() {
    source_.file = folder_.path() / "list.index";
    source_.is_current = [this](const IndexFile& file) { return file.made_from() == data_; };
    source_.make = [this]() -> Result<std::string> {
      ++made_;
      IndexWriter writer;
      writer.add(data_);
      return writer.finish(IndexKind::image_folder, data_);
    };
    source_.reporter = &reports_;
  }

  std::string open() {
    const auto index = SavedIndex::open(source_);
    return index ? std::string(index->get().bytes_of(0)) : index.error().message;
  }
  std::string bytes_there() {
    std::ifstream in(source_.file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  TemporaryFolder folder_;
  std::string data_ = "first";
  std::atomic<int> made_{0};
  testing_support::RecordingReporter reports_;
  IndexSource source_;
};

TEST_F(SavedIndexTest, IsMadeOnceThenMappedAndMadeAnewWhenTheDataChange) {
  EXPECT_EQ(open(), "first");
  ASSERT_EQ(reports_.lines.size(), 1u);
  EXPECT_TRUE(reports_.lines[0].starts_with("wrote the index " + source_.file))
      << reports_.lines[0];
  const auto before = SavedIndex::open(source_);
  EXPECT_EQ(made_, 1);
  data_ = "second";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(open(), "second");
  EXPECT_EQ(made_, 2);
  EXPECT_EQ(before->get().bytes_of(0), "first") << "whoever has mapped it goes on with it";
  EXPECT_FALSE(fs::exists(source_.file + ".lock"));
}

TEST_F(SavedIndexTest, AReplicaThatIsStartedAgainTakesItAsItIs) {
  open();
  data_ = "second";
  source_.again = true;
  EXPECT_EQ(open(), "first");
  fs::remove(source_.file);
  EXPECT_EQ(open(), "second") << "the fingerprint will tell";
}

TEST_F(SavedIndexTest, WithoutAFileItIsMadeEachTimeAndErrorsOfMakingLeaveNothingBehind) {
  const std::string file = std::exchange(source_.file, "");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(open(), "first");
  EXPECT_EQ(made_, 2);
  source_.file = file;
  source_.make = []() -> Result<std::string> { return Error{"no such folder"}; };
  EXPECT_EQ(open(), "no such folder");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(SavedIndexTest, WhatIsDamagedIsMadeAnew) {
  open();
  const std::string good = bytes_there();
  for (const std::string& bytes :
       {std::string(), good.substr(0, 10), good.substr(0, good.size() - 8), good + "more"}) {
    folder_.write("list.index", bytes);
    EXPECT_EQ(open(), "first");
    EXPECT_EQ(bytes_there(), good);
  }
}

TEST_F(SavedIndexTest, WhatIsSomethingElseIsNotOverwritten) {
  folder_.write("list.index", "my notes");
  EXPECT_EQ(open(), source_.file +
                        ": is not a Brigade index, so it is not overwritten; choose another file, "
                        "or delete this one");
  EXPECT_EQ(bytes_there(), "my notes");
  const std::string other = IndexWriter().finish(IndexKind::tar_shards, "");
  folder_.write("list.index", other);
  EXPECT_EQ(open(), source_.file +
                        ": is an index of tar_shards, expected an index of image_folder, so it is "
                        "not overwritten; choose another file, or delete this one");
  EXPECT_EQ(bytes_there(), other);
  EXPECT_EQ(made_, 0);
  source_.file = folder_.path();
  EXPECT_EQ(open(), folder_.path().string() + ": expected a regular file");
}

// It would say which files are read, and could change it under whoever has mapped it.
TEST_F(SavedIndexTest, OneOfAnotherUserIsNotBelieved) {
  if (!testing_support::may_become_another_user()) GTEST_SKIP() << "not root";
  open();
  ASSERT_EQ(chown(source_.file.c_str(), testing_support::kOtherUser, 0), 0);
  EXPECT_EQ(open(), "first");  // not where everybody may make files
  chmod(folder_.path().c_str(), 01777);
  EXPECT_EQ(open(), source_.file +
                        ": it belongs to another user (65534), in a folder that all users may "
                        "write; choose a file elsewhere");
  EXPECT_EQ(made_, 1);
}

TEST_F(SavedIndexTest, AFolderThatIsNotThereIsNamed) {
  source_.file = folder_.path() / "none/list.index";
  EXPECT_EQ(open(), "cannot write " + source_.file +
                        ".lock: No such file or directory; choose another file, or omit `index:`");
}

// A full disk, played by the limit on file sizes: in a child, as it cannot be raised again.
TEST_F(SavedIndexTest, AFullDiskIsNamedAndLeavesTheOldOne) {
  EXPECT_EQ(open(), "first");
  const std::string before = bytes_there();
  data_ = std::string(4096, 'x');
  const auto open_with_no_room = [&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::fprintf(stderr, "%s\n", open().c_str());
    _exit(0);
  };
  EXPECT_EXIT(open_with_no_room(), testing::ExitedWithCode(0),
              "^cannot write .*/list.index \\(.* KiB\\): File too large; the previous file is "
              "intact; choose another file, or omit `index:`");
  EXPECT_EQ(bytes_there(), before);
  EXPECT_FALSE(fs::exists(source_.file + ".lock"));
}

TEST_F(SavedIndexTest, OneMakesItTheOthersWaitAndALockThatACrashLeftIsTakenOver) {
  folder_.write("list.index.lock", "");
  const auto make = source_.make;
  source_.make = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    return make();
  };
  source_.reporter = nullptr;
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 8; ++t) threads.emplace_back([&] { good += open() == "first"; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8);
  EXPECT_EQ(made_, 1);
  EXPECT_FALSE(fs::exists(source_.file + ".lock"));
}

}  // namespace
}  // namespace brigade
