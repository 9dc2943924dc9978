#include "stages/image/sources/read_ahead.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include <brigade/harness.h>
#include "stages/image/image_stages.h"
#include "tests/support/only_type.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;

TEST(ImageListTest, EveryLineIsFoundInAnyOrder) {
  std::string text = "path,label\n";
  for (int i = 0; i < 1000; ++i)
    text += (i % 3 == 0 ? "\r\n" : "") + std::string("/x") + std::to_string(i) + "," +
            std::to_string(i * i) + "\n";
  const TemporaryFolder folder;
  const ParamTexts params{{"file", folder.write("l.csv", text)}};
  const auto stage = StageHarness::open(only_type<add_image_list>(), {params, {}, {}}).value();
  ASSERT_EQ(*stage->producer().size(), 1000u);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t line = i * 617 % 1000;
    EXPECT_EQ(stage->read(line).value()["label"].as<std::int64_t>()[0],
              static_cast<std::int64_t>(line * line));
    EXPECT_EQ(stage->producer().describe(line), "/x" + std::to_string(line));
  }
}

class ImageFolderTest : public testing::Test {
 protected:
  ImageFolderTest() { add_image_folder(types_); }

  Result<std::unique_ptr<StageHarness>> open(const std::string& root, ParamTexts more = {},
                                             OpenContext context = {}) {
    more.emplace_back("root", root);
    return StageHarness::open(types_.all()[0], {more, {}, context});
  }

  StageTypes types_;
  TemporaryFolder folder_;
};

std::string text_of(const HostTensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()};
}

TEST_F(ImageFolderTest, ItsContractCountsByAnIndexThatStillHolds) {
  namespace fs = std::filesystem;
  for (const char* name : {"data/b/1.jpg", "data/a/2.jpg", "data/a/3.jpg", "data/a/notes.txt"})
    folder_.write(name, "");
  const std::string root = folder_.path() / "data";
  const auto then = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const char* name : {"data", "data/a", "data/b"})
    fs::last_write_time(folder_.path() / name, then);
  const StageContract& contract = types_.all()[0].contract;
  const ParamTexts texts{{"index", folder_.path() / "data.index"}, {"root", root + "/"}};
  const auto params = make_params(contract, texts).value();
  const auto samples = [&] {
    return contract.samples(params.get(), read_metadata(contract, texts));
  };
  EXPECT_EQ(samples(), std::nullopt) << "there is none yet";
  open(root, {{"index", texts[0].second}}).value();
  EXPECT_EQ(samples(),
            SampleCount(3, {{SkipReason::no_match, 1, "files that are not images (\".txt\")"}}));
  FileMetadata nobody_looks = read_metadata(contract, texts);
  nobody_looks.stamp = nullptr;
  EXPECT_EQ(contract.samples(params.get(), nobody_looks), std::nullopt);
  folder_.write("data/a/4.jpg", "");
  EXPECT_EQ(samples(), std::nullopt);
}

TEST_F(ImageFolderTest, TheIndexIsKeptAndARestartKeepsItsNumbersThoughTheFolderChanged) {
  for (const char* name : {"data/b/1.jpg", "data/a/2.jpg", "data/a/3.jpg"}) folder_.write(name, "");
  const std::string root = folder_.path() / "data";
  const ParamTexts index{{"index", (folder_.path() / "data.index").string()}};
  const auto plain = open(root).value(), kept = open(root, index).value();
  ASSERT_TRUE(std::filesystem::exists(folder_.path() / "data.index"));
  folder_.write("data/a/1.jpg", "");
  OpenContext context;
  context.again = true;
  const auto again = open(root, index, context).value();
  for (const auto& other : {kept.get(), again.get()}) {
    EXPECT_EQ(plain->producer().fingerprint(), other->producer().fingerprint());
    for (std::uint64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(text_of(plain->read(i).value()["path"]), text_of(other->read(i).value()["path"]));
      EXPECT_EQ(plain->producer().describe(i), other->producer().describe(i));
    }
  }
  EXPECT_EQ(open(root, index).value()->producer().describe(0), "a/1.jpg");
}

// Whether pages come is the kernel's decision (and on a tmpfs they are always there), so this says
// only that nothing else changes: no descriptor is left open, nothing waits, nothing is an error.
TEST(ReadAheadTest, LeavesNothingBehindWhateverLiesThere) {
  TemporaryFolder folder;
  const std::string file = folder.write("a.jpg", std::string(300'000, 'x'));
  const std::string pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int before = open("/dev/null", O_RDONLY);
  close(before);
  for (const std::string& path : {file, pipe, file + ".none", folder.path().string()})
    ReadAhead().file(path);
  const int fd = open(file.c_str(), O_RDONLY);
  EXPECT_EQ(fd, before) << "the lowest free descriptor is the same";
  read_ahead(fd, 4096, 100'000);
  read_ahead(fd, std::uint64_t{1} << 62, 1);
  EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 0);
  close(fd);
}

TEST(ReadAheadTest, WhatIsInTheCacheIsLookedAtNowAndThen) {
  TemporaryFolder folder;
  const std::string file = folder.write("a.jpg", "just written");
  ReadAhead ahead;
  for (int i = 0; i < 80; ++i) ahead.file(file);
  EXPECT_GE(ahead.opened(), 10u);
  EXPECT_LE(ahead.opened(), 80u) << "all, where the file system cannot say what it has";
  ReadAhead off(false);
  for (int i = 0; i < 80; ++i) off.file(file);
  EXPECT_EQ(off.opened(), 0u);
}

TEST(ReadAheadTest, AfterAFileThatIsNotThereAtOnceAllAreLookedAt) {
  TemporaryFolder folder;
  // A folder cannot be read at all: as good as one that is not in the cache.
  ReadAhead ahead;
  ahead.file(folder.path());
  const std::string file = folder.write("a.jpg", "just written");
  for (int i = 0; i < 63; ++i) ahead.file(file);
  EXPECT_EQ(ahead.opened(), 64u);
}

}  // namespace
}  // namespace brigade
