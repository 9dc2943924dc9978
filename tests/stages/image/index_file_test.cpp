#include "stages/image/index_file.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

class IndexFileTest : public testing::Test {
 protected:
  IndexFileTest() {
    IndexWriter writer;
    writer.add(numbers_);
    writer.add("letters");
    writer.add("");
    bytes_ = writer.finish(IndexKind::tar_shards, "made of this");
  }

  std::string error_of(std::string_view bytes, IndexKind kind = IndexKind::tar_shards) {
    const auto file = IndexFile::parse(bytes, kind);
    return file ? "no error" : file.error().message;
  }

  const std::vector<std::uint32_t> numbers_{1, 2, 3};
  std::string bytes_;
};

TEST_F(IndexFileTest, SectionsComeBackAsTheyWere) {
  const IndexFile file = IndexFile::parse(bytes_, IndexKind::tar_shards).value();
  EXPECT_EQ(file.made_from(), "made of this");
  ASSERT_EQ(file.sections(), 3u);
  const auto numbers = file.of<std::uint32_t>(0);
  EXPECT_EQ(std::vector<std::uint32_t>(numbers.begin(), numbers.end()), numbers_);
  EXPECT_EQ(file.bytes_of(1), "letters");
  EXPECT_EQ(file.bytes_of(2), "");
  EXPECT_EQ(file.of<std::uint32_t>(1).size(), 1u) << "7 bytes hold one whole number";
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file.bytes_of(1).data()) % 8,
            reinterpret_cast<std::uintptr_t>(bytes_.data()) % 8);
}

TEST_F(IndexFileTest, TheFingerprintIsOfTheSectionsAlone) {
  const auto fingerprint = [](std::string_view first, std::string_view second, IndexKind kind,
                              std::string_view made_from) {
    IndexWriter writer;
    writer.add(first);
    writer.add(second);
    const std::string bytes = writer.finish(kind, made_from);
    return IndexFile::parse(bytes, kind)->fingerprint();
  };
  const auto first = fingerprint("ab", "c", IndexKind::tar_shards, "x");
  EXPECT_EQ(fingerprint("ab", "c", IndexKind::tar_shards, "y"), first);
  EXPECT_NE(fingerprint("a", "bc", IndexKind::tar_shards, "x"), first);
  EXPECT_NE(fingerprint("ab", "d", IndexKind::tar_shards, "x"), first);
  EXPECT_NE(first, 0u);
}

TEST_F(IndexFileTest, WhatIsDamagedSaysSo) {
  EXPECT_EQ(error_of("a picture"), "is no index of Brigade");
  EXPECT_EQ(error_of(""), "is no index of Brigade");
  EXPECT_EQ(error_of(bytes_.substr(0, 20)), "is damaged: it ends in its header");
  EXPECT_EQ(error_of(bytes_.substr(0, bytes_.size() - 1)),
            "is damaged: it has " + std::to_string(bytes_.size() - 1) + " bytes of " +
                std::to_string(bytes_.size()));
  EXPECT_EQ(error_of(bytes_, IndexKind::image_folder),
            "is the index of tar_shards, expected one of image_folder");
  std::string version = bytes_;
  version[8] = 9;
  EXPECT_EQ(error_of(version), "has version 9, expected 2");
}

TEST_F(IndexFileTest, ItsBeginningSaysWhatIsInIt) {
  const std::size_t needed = 64 + 3 * 16 + 12;
  for (const std::size_t at_hand : {needed, needed + 1, bytes_.size()}) {
    const auto start = look_at_index(std::string_view(bytes_).substr(0, at_hand), bytes_.size(),
                                     IndexKind::tar_shards);
    ASSERT_TRUE(start) << start.error().message;
    EXPECT_EQ(start->made_from, "made of this");
    EXPECT_EQ(start->section_bytes, (std::vector<std::uint64_t>{12, 7, 0}));
  }
  const auto error = [&](std::size_t at_hand, std::size_t file_bytes) {
    const auto start = look_at_index(std::string_view(bytes_).substr(0, at_hand), file_bytes,
                                     IndexKind::tar_shards);
    return start ? "no error" : start.error().message;
  };
  EXPECT_EQ(error(needed - 1, bytes_.size()),
            "says what it was made from in more bytes than are at hand");
  EXPECT_EQ(error(70, bytes_.size()), "is damaged: it has too many sections");
  EXPECT_EQ(error(10, bytes_.size()), "is damaged: it ends in its header");
  EXPECT_TRUE(error(bytes_.size(), 1000).starts_with("is damaged: it has 1000 bytes of "));
}

TEST_F(IndexFileTest, EveryChangedByteIsNoticed) {
  for (std::size_t at = 0; at < bytes_.size(); ++at) {
    std::string changed = bytes_;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_NE(error_of(changed), "no error") << at;
  }
}

TEST_F(IndexFileTest, PlacesThatDoNotFitAreRefusedThoughTheChecksumIsRight) {
  for (std::size_t at = 24; at < 64 + 3 * 16; ++at) {
    if (at >= 32 && at < 40) continue;  // the fingerprint
    if (at >= 56 && at < 64) continue;  // unused
    std::string changed = bytes_;
    changed[at] = static_cast<char>(changed[at] ^ 0x80);
    seal_index(changed);
    EXPECT_TRUE(error_of(changed).starts_with("is damaged: ")) << at << ": " << error_of(changed);
  }
}

TEST_F(IndexFileTest, OnlyAnIndexOfTheSameKindMayBeReplaced) {
  const auto error = [](std::string_view bytes) {
    const auto may = may_replace_index(bytes, IndexKind::image_folder);
    return may ? "" : may.error().message;
  };
  EXPECT_EQ(error("notes of years"), "is no index of Brigade");
  EXPECT_EQ(error(bytes_), "is the index of tar_shards, expected one of image_folder");
  const std::string own = IndexWriter().finish(IndexKind::image_folder, "");
  EXPECT_EQ(error(own.substr(0, 30)), "") << "damaged, but ours";
}

}  // namespace
}  // namespace brigade
