#include "stages/basic/fingerprint.h"
#include "stages/basic/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include <brigade/harness.h>
#include <brigade/text.h>
#include "base/owned_fd.h"
#include "stages/basic/basic_stages.h"
#include "stages/detail/cache_file.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;
using testing::HasSubstr;

/// Slots: 0 full, 1 an empty slot, 2 full; a dense tensor x and a ragged one.
CacheFileHeader header(bool complete = true) {
  CacheFileHeader out;
  out.complete = complete;
  out.slots = out.samples = 3;
  out.data_bytes = 4 * 4096;
  out.arrays = {{{"x", u8, {2}}, 4096, 2},
                {{"r", u8, {up_to(4)}}, 8192, 64},
                {{"r.shape", i64, {1}}, 12288, 8}};
  return out;
}

/// The slot's checksum put right.
void seal(std::string& data, std::uint64_t slot, std::size_t from = 0) {
  auto* const slots = reinterpret_cast<std::byte*>(data.data() + from);
  const auto state =
      static_cast<std::uint64_t>(static_cast<unsigned char>(slots[slot * kCacheSlotWordBytes]));
  store_cache_checksum(slots, slot, cache_slot_checksum(header().arrays, slots, slot, state));
}

std::string file_bytes(bool complete = true) {
  std::string bytes = print_cache_header(header(complete)).value();
  std::string data(4 * 4096, '\0');
  data[0] = data[64] = 1;
  data[32] = 2;
  data.replace(4096, 6, "ab??ef");
  data.replace(8192, 3, "xyz");
  data.replace(8192 + 128, 1, "w");
  data[12288] = 3;
  data[12288 + 16] = 1;
  for (std::uint64_t slot = 0; slot < 3; ++slot) seal(data, slot);
  return bytes + data;
}

class CachedTest : public testing::Test {
 protected:
  CachedTest() { add_cached(types_); }

  std::string file(const std::string& bytes) { return folder_.write("x.cache", bytes); }
  Result<std::unique_ptr<StageHarness>> open(const std::string& path) {
    return StageHarness::open(types_.all()[0], {{{"file", path}}, {}, {}});
  }
  std::string error_of(const std::string& bytes) { return message_of(open(file(bytes))); }

  StageTypes types_;
  TemporaryFolder folder_;
};

TEST_F(CachedTest, TheFingerprintIsThatOfTheSlots) {
  const auto fingerprint = [this](const std::string& bytes) {
    return open(file(bytes)).value()->producer().fingerprint();
  };
  const std::uint64_t first = fingerprint(file_bytes());
  EXPECT_NE(first, 0u);
  CacheFileHeader made_again = header();
  made_again.contents = "images.file = 10 bytes of 17";
  EXPECT_EQ(
      fingerprint(print_cache_header(made_again).value() + file_bytes().substr(kCacheHeaderBytes)),
      first);
  std::string other = file_bytes();
  ++other[kCacheHeaderBytes + 4096];
  EXPECT_NE(fingerprint(other), first);
}

TEST_F(CachedTest, GivesTheSlots) {
  const auto stage = open(file(file_bytes())).value();
  EXPECT_EQ(stage->outputs(), (Ports{{"x", u8, {2}}, {"r", u8, {up_to(4)}}}));
  EXPECT_EQ(*stage->producer().size(), 3u);
  const HarnessCall first = stage->read(0).value();
  EXPECT_EQ(first["x"].as<std::uint8_t>(), (std::vector<std::uint8_t>{'a', 'b'}));
  EXPECT_EQ(first["r"].as<std::uint8_t>(), (std::vector<std::uint8_t>{'x', 'y', 'z'}));
  EXPECT_EQ(stage->read(2).value()["r"].as<std::uint8_t>(), std::vector<std::uint8_t>{'w'});
  EXPECT_EQ(stage->producer().describe(2), "sample 2 of x.cache");
}

TEST_F(CachedTest, WhatWasDroppedIsDropped) {
  const auto stage = open(file(file_bytes())).value();
  EXPECT_EQ(stage->read(1).value().next, Next::drop);
}

TEST_F(CachedTest, CountsItsSamplesBeforehand) {
  FileMetadata metadata;
  metadata.files.emplace_back("file", FileHeader{file_bytes().substr(0, kMetadataBytesMax), 81920});
  const StageContract& contract = types_.all()[0].contract;
  const auto params = make_params(contract, {{"file", file(file_bytes())}}).value();
  EXPECT_EQ(contract.samples(params.get(), metadata), 3u);
  EXPECT_EQ(contract.samples(params.get(), {}), std::nullopt);
}

TEST_F(CachedTest, RefusesWhatIsNotWhole) {
  EXPECT_THAT(error_of("something else"), HasSubstr("x.cache: is not a Brigade cache"));
  EXPECT_THAT(error_of(file_bytes(false)), HasSubstr("x.cache: is not complete"));
  EXPECT_THAT(error_of(file_bytes().substr(0, 70'000)), HasSubstr("x.cache: is truncated"));
}

TEST_F(CachedTest, ASlotThatIsNotThereIsSaid) {
  std::string bytes = file_bytes();
  bytes[kCacheHeaderBytes + 64] = 0;
  const auto stage = open(file(bytes)).value();
  EXPECT_THAT(stage->read(2).error().message, HasSubstr("is damaged: sample 2 is missing"));
}

TEST_F(CachedTest, SizesBeyondTheBoundAreSaid) {
  std::string bytes = file_bytes();
  bytes[kCacheHeaderBytes + 12288] = 5;
  seal(bytes, 0, kCacheHeaderBytes);
  const auto stage = open(file(bytes)).value();
  EXPECT_FALSE(stage->read(0));
}

TEST_F(CachedTest, AChangedByteIsSaidWithTheSampleThatHasIt) {
  struct Place {
    std::size_t at;
    std::uint64_t sample;
  };
  const Place places[] = {{0, 0},        {32, 1},         {8, 0},     {40, 1},
                          {16, 0},       {64 + 31, 2},    {4096, 0},  {4096 + 5, 2},
                          {8192 + 2, 0}, {8192 + 128, 2}, {12288, 0}, {12288 + 23, 2}};
  for (const auto& [at, sample] : places) {
    std::string bytes = file_bytes();
    ASSERT_TRUE(open(file(bytes)).value()->read(sample)) << "untouched";
    bytes[kCacheHeaderBytes + at] ^= 3;
    const auto stage = open(file(bytes)).value();
    for (std::uint64_t other = 0; other < 3; ++other) {
      const auto read = stage->read(other);
      ASSERT_EQ(read.ok(), other != sample) << at << ", sample " << other;
      if (other != sample) continue;
      EXPECT_THAT(read.error().message, HasSubstr("delete it and run again"));
    }
  }
}

TEST_F(CachedTest, AChangedByteBetweenTheTensorsAndAnotherLengthAreSaid) {
  for (const std::size_t at : {96, 4095, 4102, 8191, 8384, 12312, 16383}) {
    std::string bytes = file_bytes();
    bytes[kCacheHeaderBytes + at] = 1;
    EXPECT_THAT(error_of(bytes), HasSubstr("between its tensors; delete it")) << at;
  }
  EXPECT_THAT(error_of(file_bytes() + "8 bytes."), HasSubstr("is damaged: it has "));
  std::string bytes = file_bytes();
  EXPECT_THAT(error_of(bytes.insert(kCacheHeaderBytes, 8, '\0')), HasSubstr("is damaged: it has "));
  EXPECT_THAT(error_of(file_bytes().substr(0, kCacheHeaderBytes + 16376)),
              HasSubstr("is truncated"));
}

TEST(MappedFileTest, ShowsTheBytesAndMoves) {
  const TemporaryFolder folder;
  MappedFile file = MappedFile::open(folder.write("a", "some bytes")).value();
  EXPECT_EQ(file.bytes(), "some bytes");
  MappedFile other = std::move(file);
  EXPECT_EQ(other.bytes(), "some bytes");
  EXPECT_EQ(MappedFile::open(folder.write("b", "")).value().bytes(), "");
}

TEST(MappedFileTest, SaysWhatIsNoFile) {
  const TemporaryFolder folder;
  const std::string none = folder.path() / "none";
  EXPECT_EQ(MappedFile::open(none).error().message,
            none + ": cannot open: No such file or directory");
  EXPECT_EQ(MappedFile::open(folder.path()).error().message,
            folder.path().string() + ": expected a regular file");
}

TEST(MappedFileTest, SaysWhyItCannotBeMapped) {
  const OwnedFd larger_than_memory_can_be(memfd_create("larger", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(larger_than_memory_can_be.get(), std::int64_t{1} << 62), 0);
  const std::string path = concat("/proc/self/fd/", larger_than_memory_can_be.get());
  EXPECT_EQ(MappedFile::open(path).error().message,
            path +
                ": cannot map 4611686018427387904 bytes (Cannot allocate memory); raise the limit "
                "on address space (`ulimit -v`)");
}

std::uint64_t of_file(std::string_view bytes) {
  Fingerprint out;
  out.add_file(bytes);
  return out.value();
}

std::uint64_t of_two(std::string_view first, std::string_view second) {
  Fingerprint out;
  out.add_file(first);
  out.add(second);
  return out.value();
}

TEST(Fingerprint, IsThatOfTheBytesAndOfHowTheyAreParted) {
  EXPECT_EQ(of_two("ab", "c"), of_two("ab", "c"));
  EXPECT_NE(of_two("ab", "c"), of_two("ab", "d"));
  EXPECT_NE(of_two("ab", "c"), of_two("a", "bc"));
  EXPECT_NE(of_two("ab", ""), of_two("", "ab"));
  EXPECT_NE(Fingerprint().value(), 0u);
}

TEST(Fingerprint, NoticesEveryByteOfAFileThatIsNotLarge) {
  std::string bytes(kFingerprintWholeBytes, 'x');
  const std::uint64_t before = of_file(bytes);
  for (const std::size_t at : {std::size_t{0}, bytes.size() / 3, bytes.size() - 1}) {
    bytes[at] = 'y';
    EXPECT_NE(of_file(bytes), before) << at;
    bytes[at] = 'x';
  }
  EXPECT_EQ(of_file(bytes), before);
}

TEST(Fingerprint, OfALargeFileItIsThatOfItsSizeItsEndsAndBlocksBetween) {
  std::string bytes(kFingerprintWholeBytes + 1000, 'x');
  const std::uint64_t before = of_file(bytes);
  const auto changes = [&](std::size_t at) {
    bytes[at] = 'y';
    const bool other = of_file(bytes) != before;
    bytes[at] = 'x';
    return other;
  };
  const std::size_t step = (bytes.size() - kFingerprintBlockBytes) / (kFingerprintBlocks - 1);
  EXPECT_TRUE(changes(0));
  EXPECT_TRUE(changes(bytes.size() - 1));
  EXPECT_TRUE(changes(30 * step));
  EXPECT_TRUE(changes(30 * step + kFingerprintBlockBytes - 1));
  EXPECT_FALSE(changes(30 * step + kFingerprintBlockBytes)) << "it would read all of a large file";
  EXPECT_NE(of_file(std::string_view(bytes).substr(1)), before);
}

}  // namespace
}  // namespace brigade
