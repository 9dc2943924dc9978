#include "stages/image/decode/decode_index.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include <brigade/text.h>
#include "tests/support/file_text.h"
#include "tests/support/images/decode_test.h"
#include "tests/support/images/plain_jpeg.h"

namespace brigade {
namespace {

using namespace testing_support;

const DecodeIndex::Key kKey{17, 4};

/// As long as a record of so many entries is.
JpegPositions positions(std::int64_t known, std::size_t entries) {
  JpegPositions out{known, {}};
  for (std::size_t i = 0; i < entries; ++i)
    out.entries.push_back({1001 * i + 3, {static_cast<std::int16_t>(i), -5, 7}});
  return out;
}

class DecodeIndexTest : public testing::Test {
 protected:
  DecodeIndex open() { return DecodeIndex::open(path_).value(); }
  std::string error() {
    const auto opened = DecodeIndex::open(path_);
    return opened ? "" : opened.error().message;
  }
  /// What a process that opens it now knows.
  std::int64_t known(const DecodeIndex::Key& key = kKey) { return open().find(key).known; }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "index";
};

TEST_F(DecodeIndexTest, ProcessesLearnFromEachOther) {
  DecodeIndex mine = open(), others = open();
  EXPECT_EQ(others.find(kKey).known, 0);
  for (const std::size_t entries : {std::size_t{3}, std::size_t{500}}) {
    const JpegPositions all = positions(static_cast<std::int64_t>(entries) * 8, entries);
    mine.add(kKey, all);
    EXPECT_EQ(open().find(kKey).entries, all.entries);
  }
  others.add({18, 4}, positions(40, 5));
  EXPECT_EQ(mine.find({18, 4}).known, 40);
  EXPECT_EQ(others.find(kKey).known, 4000) << "the last record counts";
  EXPECT_EQ(mine.find({17, 5}).known, 0) << "half of the hash";
}

TEST_F(DecodeIndexTest, ManyImages) {
  DecodeIndex mine = open();
  for (std::uint64_t i = 1; i <= 5000; ++i) mine.add({i * 1024, i}, positions(8, i % 200 + 1));
  DecodeIndex others = open();
  for (std::uint64_t i = 1; i <= 5000; ++i)
    ASSERT_EQ(others.find({i * 1024, i}).entries.size(), i % 200 + 1) << i;
}

TEST_F(DecodeIndexTest, TornAndChangedRecordsArePassedOver) {
  open().add(kKey, positions(8, 1));
  const std::string first = file_text(path_);
  open().add({18, 4}, positions(16, 2));
  const std::string both = file_text(path_);
  for (std::size_t size = first.size(); size < both.size(); ++size) {
    folder_.write("index", both.substr(0, size));
    EXPECT_EQ(known({18, 4}), 0) << size;
    open().add({19, 4}, positions(24, 3));
    EXPECT_EQ(known({19, 4}), 24) << size;
    EXPECT_EQ(known(), 8);
  }
  for (std::size_t at = first.size(); at < both.size(); ++at) {
    std::string changed = both;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    folder_.write("index", changed);
    EXPECT_EQ(known({18, 4}), 0) << at;
    EXPECT_EQ(known(), 8);
  }
}

TEST_F(DecodeIndexTest, OnlyAnIndexIsOpened) {
  folder_.write("index", "somebody's notes");
  EXPECT_EQ(error(), path_ + ": is not a decode index; name another file");
  EXPECT_EQ(file_text(path_), "somebody's notes");
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_THAT(error(), testing::EndsWith("/index: Is a directory"));
}

TEST_F(DecodeIndexTest, OneOfAnotherVersionIsReplaced) {
  open().add(kKey, positions(8, 1));
  std::string file = file_text(path_);
  file[16] = 9;
  folder_.write("index", file);
  EXPECT_EQ(known(), 0);
  open().add(kKey, positions(8, 1));
  EXPECT_EQ(known(), 8);
}

TEST_F(DecodeIndexTest, WhatCannotBeWrittenIsSaidOnce) {
  DecodeIndex index = open();
  index.add(kKey, positions(8, 1));
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit full{std::filesystem::file_size(path_) + 40, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  for (int i = 0; i < 2; ++i) index.add({18, 4}, positions(80, 10));
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  const auto failure = index.take_failure();
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, testing::StartsWith(path_ + ": cannot write: "));
  EXPECT_FALSE(index.take_failure());
  index.add({19, 4}, positions(80, 10));
  EXPECT_EQ(known({19, 4}), 0);
  EXPECT_EQ(known(), 8);
}

class DecodeWithIndexTest : public DecodeTest {
 protected:
  const std::string index_ = folder_ / "index";
};

TEST_F(DecodeWithIndexTest, EveryEpochHasThePixelsOfADecodeWithout) {
  const std::string path = folder_ / "image";
  const std::vector<std::string> files = {
      write_jpeg(photograph(300, 400)),
      write_jpeg(photograph(300, 400), {.quality = 60, .restart = 7}),
      write_jpeg(photograph(300, 400, 1)), write_jpeg(photograph(300, 400, 4)),
      write_jpeg(photograph(300, 400), {.progressive = true})};
  const ParamTexts crops = {{"size", "64"}};
  const ParamTexts indexed = {{"size", "64"}, {"decode_index", index_}};
  const auto plain = open(crops), mine = open(indexed), others = open(indexed);
  for (std::uint32_t epoch = 0; epoch < 24; ++epoch)
    for (std::size_t i = 0; i < files.size(); ++i) {
      folder_.write("image", files[i]);  // the same name
      const SampleInfo info{.index = i, .epoch = epoch};
      const std::vector<HostTensor> in = {bytes_tensor("path", path)};
      const Picture wanted = image_of(plain->process(in, info).value());
      EXPECT_EQ(image_of((epoch % 2 == 0 ? mine : others)->process(in, info).value()), wanted)
          << i << " in epoch " << epoch;
    }
  DecodeIndex index = DecodeIndex::open(index_).value();
  EXPECT_GT(index.find(DecodeIndex::key_of(files[0])).known, 0);
  EXPECT_GT(index.find(DecodeIndex::key_of(files[2])).known, 0);
  EXPECT_EQ(index.find(DecodeIndex::key_of(files[4])).known, 0);
  const std::string written = file_text(index_);
  const std::string_view record("\xde\xc0\x1e\x9d\x67\x65\x70\x6a", 8);
  std::size_t records = 0;
  for (std::size_t at = 0; (at = written.find(record, at)) != written.npos; ++at) ++records;
  EXPECT_GE(records, 3U);
  EXPECT_LE(records, 3U * 4) << "of three images";
}

TEST_F(DecodeWithIndexTest, ADamagedImageGetsNoEntry) {
  const std::string whole = write_jpeg(photograph(300, 400));
  const std::string damaged = whole.substr(0, whole.size() / 2);
  const ParamTexts indexed = {{"crop", "none"}, {"size", "0"}, {"decode_index", index_}};
  for (int epoch = 0; epoch < 2; ++epoch)
    EXPECT_EQ(error_of(damaged, indexed), "the JPEG data ends too early");
  EXPECT_EQ(DecodeIndex::open(index_).value().find(DecodeIndex::key_of(damaged)).known, 0);
}

}  // namespace
}  // namespace brigade
