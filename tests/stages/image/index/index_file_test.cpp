#include "stages/image/index/index_file.h"
#include "stages/image/index/made_from.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "tests/support/message_of.h"

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

  std::string field_error(std::string_view bytes, IndexKind kind = IndexKind::tar_shards) {
    return message_of(IndexFile::parse(bytes, kind));
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
  EXPECT_EQ(field_error("a picture"), "is not a Brigade index");
  EXPECT_EQ(field_error(""), "is not a Brigade index");
  EXPECT_EQ(field_error(bytes_.substr(0, 20)), "is damaged: it ends within its header");
  EXPECT_EQ(field_error(bytes_.substr(0, bytes_.size() - 1)),
            "is damaged: it has " + std::to_string(bytes_.size() - 1) + " bytes of " +
                std::to_string(bytes_.size()));
  EXPECT_EQ(field_error(bytes_, IndexKind::image_folder),
            "is an index of tar_shards, expected an index of image_folder");
  std::string version = bytes_;
  version[8] = 9;
  EXPECT_EQ(field_error(version), "has version 9, expected 2");
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
    return message_of(look_at_index(std::string_view(bytes_).substr(0, at_hand), file_bytes,
                                    IndexKind::tar_shards));
  };
  EXPECT_EQ(error(needed - 1, bytes_.size()),
            "is damaged: the description of its source is cut off");
  EXPECT_EQ(error(70, bytes_.size()), "is damaged: it has too many sections");
  EXPECT_EQ(error(10, bytes_.size()), "is damaged: it ends within its header");
  EXPECT_TRUE(error(bytes_.size(), 1000).starts_with("is damaged: it has 1000 bytes of "));
}

TEST_F(IndexFileTest, EveryChangedByteIsNoticed) {
  for (std::size_t at = 0; at < bytes_.size(); ++at) {
    std::string changed = bytes_;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_NE(field_error(changed), "no error") << at;
  }
}

TEST_F(IndexFileTest, PlacesThatDoNotFitAreRefusedThoughTheChecksumIsRight) {
  for (std::size_t at = 24; at < 64 + 3 * 16; ++at) {
    if (at >= 32 && at < 40) continue;  // the fingerprint
    if (at >= 56 && at < 64) continue;  // unused
    std::string changed = bytes_;
    changed[at] = static_cast<char>(changed[at] ^ 0x80);
    seal_index(changed);
    EXPECT_TRUE(field_error(changed).starts_with("is damaged: "))
        << at << ": " << field_error(changed);
  }
}

TEST_F(IndexFileTest, OnlyAnIndexOfTheSameKindMayBeReplaced) {
  const auto error = [](std::string_view bytes) {
    return message_of(may_replace_index(bytes, IndexKind::image_folder), "");
  };
  EXPECT_EQ(error("notes of years"), "is not a Brigade index");
  EXPECT_EQ(error(bytes_), "is an index of tar_shards, expected an index of image_folder");
  const std::string own = IndexWriter().finish(IndexKind::image_folder, "");
  EXPECT_EQ(error(own.substr(0, 30)), "") << "damaged, but ours";
}

TEST(MadeFrom, PartsComeBackInOrderAndWhatIsNoNumberIsNone) {
  std::string text;
  for (const char* part : {"a path\n", "", "-12", "", "x", "1x", "99999999999999999999"})
    add_part(text, part);
  std::string_view rest = text;
  EXPECT_EQ(take_part(rest), "a path\n");
  EXPECT_EQ(take_part(rest), "");
  EXPECT_EQ(take_number(rest), -12);
  for (int i = 0; i < 4; ++i) {
    std::string_view part = rest;
    EXPECT_EQ(take_number(part), std::nullopt) << rest;
    take_part(rest);
  }
  EXPECT_EQ(take_part(rest), std::nullopt);
  EXPECT_EQ(take_number(rest), std::nullopt);
  std::string_view open = "12";
  EXPECT_EQ(take_number(open), std::nullopt) << "no end";
}

TEST(MadeFrom, TimesOfFilesAreOfThatClock) {
  struct stat status {};
  ASSERT_EQ(stat("/proc/self/stat", &status), 0);
  EXPECT_LT(std::abs(utc_ns() - changed_ns(status)), std::int64_t{3600} * 1'000'000'000);
}

}  // namespace
}  // namespace brigade
