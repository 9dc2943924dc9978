#include "stages/detail/cache_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/text.h>
#include "tests/support/message_of.h"

namespace brigade {
namespace {

using testing::HasSubstr;

/// Three slots of a dense and a ragged tensor.
CacheFileHeader example() {
  CacheFileHeader header;
  header.complete = true;
  header.slots = 3;
  header.samples = 2;
  header.data_bytes = 16384;
  header.arrays = {{{"x", u8, {4}}, 4096, 4},
                   {{"box", f32, {up_to(10, 3), 4}}, 8192, 192},
                   {{"box.shape", i64, {2}}, 12288, 16}};
  header.contents = "a.type = synthetic\nb.limit = 3\n";
  header.contents_hash = cache_contents_hash(header.contents);
  return header;
}

std::string error_of(const CacheFileHeader& header) {
  return message_of(parse_cache_header(print_cache_header(header).value()));
}

std::string error_of_text(std::string lines) {
  std::string text = std::string(kCacheFileMagic) + lines;
  text.resize(kCacheHeaderBytes);
  seal_cache_header(text);
  return message_of(parse_cache_header(text));
}

TEST(CacheFile, HeadersAreReadAsTheyWereWritten) {
  const std::string text = print_cache_header(example()).value();
  EXPECT_EQ(text.size(), kCacheHeaderBytes);
  const auto parsed = parse_cache_header(text);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, example());
  EXPECT_EQ(parsed->arrays[1].type.shape[0].expected, 3);
}

TEST(CacheFile, ContentsThatAreTooLongAreCutButTheHashIsOfAll) {
  CacheFileHeader header = example();
  header.contents = std::string(2 * kCacheHeaderBytes, 'x');
  const auto parsed = parse_cache_header(print_cache_header(header).value()).value();
  EXPECT_LT(parsed.contents.size(), kCacheHeaderBytes);
  EXPECT_EQ(parsed.contents_hash, cache_contents_hash(header.contents));
  EXPECT_NE(parsed.contents_hash, cache_contents_hash(parsed.contents));
}

TEST(CacheFile, SomethingElseIsNoCache) {
  for (const char* text : {"", "PK\3\4", "Brigade index 2\ncomplete yes\ncontents\n"})
    EXPECT_EQ(parse_cache_header(text).error().message, "is not a Brigade cache") << text;
}

TEST(CacheFile, BrokenHeadersAreSaid) {
  EXPECT_THAT(error_of_text("slots x\ncontents\n"), HasSubstr("has a damaged header: \"slots x\""));
  EXPECT_THAT(error_of_text("slots 3\n"), HasSubstr("it ends too early"));
}

TEST(CacheFile, EveryByteOfTheHeaderIsCovered) {
  const std::string text = print_cache_header(example()).value();
  for (std::size_t at = 0; at < text.size(); at += at < 300 ? 1 : 131) {
    std::string damaged = text;
    damaged[at] ^= 1;
    EXPECT_FALSE(parse_cache_header(damaged)) << at;
  }
  for (std::size_t at = text.size() - 8; at < text.size(); ++at) {  // the checksum itself
    std::string damaged = text;
    damaged[at] ^= 1;
    EXPECT_THAT(parse_cache_header(damaged).error().message, HasSubstr("its checksum is wrong"));
  }
}

TEST(CacheFile, OfAnotherVersionItSaysWhatToDo) {
  std::string text = print_cache_header(example()).value();
  text.replace(0, kCacheFileMagic.size(), "Brigade cache 1\n");
  EXPECT_THAT(parse_cache_header(text).error().message,
              HasSubstr("another version of Brigade; delete it and run again"));
}

TEST(CacheFile, ArraysMustLieInTheFile) {
  const std::pair<const char*, void (*)(CacheFileHeader&)> changes[] = {
      {"offset", [](CacheFileHeader& header) { header.arrays[0].offset = 16384; }},
      {"less than a slot", [](CacheFileHeader& header) { header.arrays[0].stride = 3; }},
      {"samples", [](CacheFileHeader& header) { header.samples = 4; }},
      {"slots", [](CacheFileHeader& header) { header.slots = 1000; }},
      {"the sizes of `box`", [](CacheFileHeader& header) { header.arrays.pop_back(); }},
      {"shape", [](CacheFileHeader& header) { header.arrays[2].type.shape = {1}; }}};
  for (const auto& [name, change] : changes) {
    CacheFileHeader header = example();
    change(header);
    EXPECT_EQ(error_of(header), "has a damaged header: its arrays do not match its size") << name;
  }
}

TEST(CacheFile, TruncatedFilesAreSaid) {
  EXPECT_TRUE(check_cache_size(example(), kCacheHeaderBytes + 16384));
  EXPECT_THAT(message_of(check_cache_size(example(), kCacheHeaderBytes + 16392)),
              HasSubstr("is damaged: it has "));
  EXPECT_EQ(check_cache_size(example(), kCacheHeaderBytes + 16383).error().message,
            concat("is truncated: it has ", kCacheHeaderBytes + 16383, " bytes of ",
                   kCacheHeaderBytes + 16384));
}

}  // namespace
}  // namespace brigade
