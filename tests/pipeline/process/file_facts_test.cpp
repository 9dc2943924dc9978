#include "pipeline/process/file_facts.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <random>

#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

struct Facts : testing::Test {
  TemporaryFolder folder;
  FileFacts facts;

  std::string path(const std::string& name) const { return folder.path() / name; }
  std::string mistake(const std::string& name) {
    const auto fact = facts.read(path(name));
    return fact.ok() ? "" : fact.error().message;
  }
  void gzip(const std::string& name, const std::string& bytes) const {
    const gzFile file = gzopen(path(name).c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
  }
};

TEST_F(Facts, ReadTheStartOfAPlainFile) {
  folder.write("plain", "hello");
  const auto fact = facts.read(path("plain"));
  ASSERT_TRUE(fact.ok());
  EXPECT_EQ(fact->header, "hello");
  EXPECT_EQ(fact->file_bytes, 5u);
}

TEST_F(Facts, HaveSizeAndTimeOfWhatLiesThere) {
  folder.write("plain", "hello");
  const auto stamp = facts.stamp(path("plain"));
  ASSERT_TRUE(stamp);
  EXPECT_EQ(stamp->bytes, 5u);
  EXPECT_FALSE(facts.stamp(path("none")));
}

TEST_F(Facts, ReadNoMoreThanTheyNeed) {
  folder.write("long", std::string(kFactBytesMax + 10, 'x'));
  const auto fact = facts.read(path("long"));
  EXPECT_EQ(fact->header.size(), kFactBytesMax);
  EXPECT_EQ(fact->file_bytes, kFactBytesMax + 10);
}

TEST_F(Facts, UnpackGzip) {
  gzip("packed", "hello");
  EXPECT_EQ(facts.read(path("packed"))->header, "hello");
}

TEST_F(Facts, UnpackOnlyTheStartOfALongFile) {
  std::string bytes;
  std::mt19937 noise(7);  // what gzip cannot shrink
  for (int i = 0; i < 400'000; ++i) bytes += static_cast<char>(noise());
  gzip("packed", bytes);
  const auto fact = facts.read(path("packed"));
  ASSERT_TRUE(fact.ok());
  EXPECT_TRUE(fact->header == bytes.substr(0, kFactBytesMax)) << fact->header.size();
  EXPECT_GT(fact->file_bytes, kFactBytesMax);
}

TEST_F(Facts, AnEmptyFileHasAnEmptyHeader) {
  folder.write("empty", "");
  EXPECT_EQ(facts.read(path("empty"))->header, "");
  gzip("packed", "");
  EXPECT_EQ(facts.read(path("packed"))->header, "");
}

TEST_F(Facts, DamagedGzipIsAnError) {
  gzip("packed", std::string(10'000, 'x'));
  std::fstream file(path("packed"), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(12);
  file << "garbage garbage";
  file.close();
  EXPECT_EQ(mistake("packed"), "damaged gzip data");
}

TEST_F(Facts, GzipThatEndsInItsHeaderIsAnError) {
  folder.write("short", "\x1f\x8b\x08");
  EXPECT_EQ(mistake("short"), "the gzip data ends too early");
}

TEST_F(Facts, WhatIsNoFileIsAnError) {
  std::filesystem::create_directory(path("folder"));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(mistake("missing"), "no such file");
  EXPECT_EQ(mistake("folder"), "it is a folder, not a file");
  EXPECT_EQ(mistake("pipe"), "it is a pipe or a device, not a file");
}

TEST_F(Facts, SayWhatLiesAtAPath) {
  folder.write("plain", "x");
  std::filesystem::create_directory(path("folder"));
  std::filesystem::create_symlink(path("plain"), path("link"));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(facts.kind(path("plain")), PathKind::file);
  EXPECT_EQ(facts.kind(path("link")), PathKind::file);
  EXPECT_EQ(facts.kind(path("folder")), PathKind::folder);
  EXPECT_EQ(facts.kind(path("pipe")), PathKind::other);
  EXPECT_EQ(facts.kind(path("missing")), PathKind::missing);
}

TEST_F(Facts, WhatMayNotBeReadIsAnError) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  folder.write("secret/file", "x");
  chmod(path("secret/file").c_str(), 0);
  EXPECT_EQ(mistake("secret/file"), "permission denied");
  chmod(path("secret").c_str(), 0);
  EXPECT_EQ(facts.kind(path("secret/file")), PathKind::forbidden);
  chmod(path("secret").c_str(), 0700);
}

}  // namespace
}  // namespace brigade
