#include "pipeline/config/graph/file_metadata.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <random>

#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

struct FilesOnDisk : testing::Test {
  TemporaryFolder folder;
  FileMetadataProbe metadata;

  std::string path(const std::string& name) const { return folder.path() / name; }
  std::string mistake(const std::string& name) {
    const auto file_header = metadata.read(path(name));
    return file_header.ok() ? "" : file_header.error().message;
  }
  void gzip(const std::string& name, const std::string& bytes) const {
    const gzFile file = gzopen(path(name).c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
  }
};

TEST_F(FilesOnDisk, ReadTheStartOfAPlainFile) {
  folder.write("plain", "hello");
  const auto file_header = metadata.read(path("plain"));
  ASSERT_TRUE(file_header.ok());
  EXPECT_EQ(file_header->header, "hello");
  EXPECT_EQ(file_header->file_bytes, 5u);
}

TEST_F(FilesOnDisk, HaveSizeAndTimeOfWhatLiesThere) {
  folder.write("plain", "hello");
  const auto stamp = metadata.stamp(path("plain"));
  ASSERT_TRUE(stamp);
  EXPECT_EQ(stamp->bytes, 5u);
  EXPECT_FALSE(metadata.stamp(path("none")));
}

TEST_F(FilesOnDisk, AreListedAsFarAsSomebodyLooks) {
  for (const char* name : {"a/1", "b", "c"}) folder.write(name, "");
  std::filesystem::create_symlink(path("a"), path("link"));
  std::filesystem::create_symlink(path("none"), path("nothing"));
  const auto all = metadata.list(folder.path(), 5);
  ASSERT_TRUE(all.ok());
  EXPECT_TRUE(all->all);
  EXPECT_EQ(all->names.size(), 5u);
  for (const auto& [name, is_folder] : all->names)
    EXPECT_EQ(is_folder, name == "a" || name == "link") << name;
  const auto some = metadata.list(folder.path(), 4);
  EXPECT_FALSE(some->all);
  EXPECT_EQ(some->names.size(), 4u);
  EXPECT_EQ(metadata.list(path("d"), 4).error().message,
            "cannot read the folder: No such file or directory");
}

TEST_F(FilesOnDisk, LinksToDescriptorsAreSeen) {
  for (const char* target : {"/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"}) {
    std::filesystem::remove(path("input"));
    std::filesystem::create_symlink(target, path("input"));
    EXPECT_EQ(metadata.descriptor_behind(path("input")), "/proc/self/fd/0") << target;
  }
  std::filesystem::create_symlink("input", path("again"));
  EXPECT_EQ(metadata.descriptor_behind(path("again")), "/proc/self/fd/0");
  std::filesystem::create_symlink("/dev", path("devices"));
  EXPECT_EQ(metadata.descriptor_behind(path("devices/stdin")), "/proc/self/fd/0");
  folder.write("file", "");
  std::filesystem::create_symlink("/dev/null", path("null"));
  std::filesystem::create_symlink("round", path("round"));
  for (const char* other : {"file", "null", "round", "none", "no/folder"})
    EXPECT_EQ(metadata.descriptor_behind(path(other)), std::nullopt) << other;
}

TEST_F(FilesOnDisk, ReadNoMoreThanTheyNeed) {
  folder.write("long", std::string(kMetadataBytesMax + 10, 'x'));
  const auto file_header = metadata.read(path("long"));
  EXPECT_EQ(file_header->header.size(), kMetadataBytesMax);
  EXPECT_EQ(file_header->file_bytes, kMetadataBytesMax + 10);
}

TEST_F(FilesOnDisk, UnpackGzip) {
  gzip("packed", "hello");
  EXPECT_EQ(metadata.read(path("packed"))->header, "hello");
}

TEST_F(FilesOnDisk, UnpackOnlyTheStartOfALongFile) {
  std::string bytes;
  std::mt19937 noise(7);  // what gzip cannot shrink
  for (int i = 0; i < 400'000; ++i) bytes += static_cast<char>(noise());
  gzip("packed", bytes);
  const auto file_header = metadata.read(path("packed"));
  ASSERT_TRUE(file_header.ok());
  EXPECT_TRUE(file_header->header == bytes.substr(0, kMetadataBytesMax))
      << file_header->header.size();
  EXPECT_GT(file_header->file_bytes, kMetadataBytesMax);
}

TEST_F(FilesOnDisk, AnEmptyFileHasAnEmptyHeader) {
  folder.write("empty", "");
  EXPECT_EQ(metadata.read(path("empty"))->header, "");
  gzip("packed", "");
  EXPECT_EQ(metadata.read(path("packed"))->header, "");
}

TEST_F(FilesOnDisk, DamagedGzipIsAnError) {
  gzip("packed", std::string(10'000, 'x'));
  std::fstream file(path("packed"), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(12);
  file << "garbage garbage";
  file.close();
  EXPECT_EQ(mistake("packed"), "damaged gzip data");
}

TEST_F(FilesOnDisk, GzipThatEndsInItsHeaderIsAnError) {
  folder.write("short", "\x1f\x8b\x08");
  EXPECT_EQ(mistake("short"), "the gzip data ends too early");
}

TEST_F(FilesOnDisk, WhatIsNoFileIsAnError) {
  std::filesystem::create_directory(path("folder"));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(mistake("missing"), "no such file");
  EXPECT_EQ(mistake("folder"), "it is a folder, not a file");
  EXPECT_EQ(mistake("pipe"), "it is a pipe or a device, not a file");
}

TEST_F(FilesOnDisk, SayWhatLiesAtAPath) {
  folder.write("plain", "x");
  std::filesystem::create_directory(path("folder"));
  std::filesystem::create_symlink(path("plain"), path("link"));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(metadata.kind(path("plain")), PathKind::file);
  EXPECT_EQ(metadata.kind(path("link")), PathKind::file);
  EXPECT_EQ(metadata.kind(path("folder")), PathKind::folder);
  EXPECT_EQ(metadata.kind(path("pipe")), PathKind::other);
  EXPECT_EQ(metadata.kind(path("missing")), PathKind::missing);
}

TEST_F(FilesOnDisk, WhatMayNotBeReadIsAnError) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  folder.write("secret/file", "x");
  chmod(path("secret/file").c_str(), 0);
  EXPECT_EQ(mistake("secret/file"), "permission denied");
  chmod(path("secret").c_str(), 0);
  EXPECT_EQ(metadata.kind(path("secret/file")), PathKind::forbidden);
  chmod(path("secret").c_str(), 0700);
}

}  // namespace
}  // namespace brigade
