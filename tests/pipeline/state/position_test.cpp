#include "pipeline/state/position.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

PositionFile example() {
  Position now{"17-99",
               "12 bytes, xxh3 00ff",
               {{1, 640}, {0, 3}},
               3,
               5000,
               {{"images", 60000, ~std::uint64_t{0}}},
               {{"augment", {SampleAddress::kQueueMax, {0, 17}}}},
               {{"decode", 0, 1, 5}},
               std::string(32, 'a'),
               "libpng 1.6.39"};
  return {
      "train", "a.type = b\nc.\"x\" = \"\xff\"\n", {now, {"", "", {}, 0, 0, {}, {}, {}, "", ""}}};
}

TEST(PositionJson, ReadsWhatItWrites) {
  PositionFile file = example();
  file.order = "a.type = b\nc.x = 1\n";
  const auto read = position_from_json(position_to_json(file));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, file);
}

TEST(PositionJson, BytesThatAreNoTextDoNoHarm) {
  EXPECT_TRUE(position_from_json(position_to_json(example())).ok());
}

TEST(PositionJson, WhatIsCutShortOrForeignIsAnErrorOfOneLine) {
  const std::string whole = position_to_json(example());
  for (std::size_t size = 0; size + 3 < whole.size(); size += 7) {
    const auto read = position_from_json(whole.substr(0, size));
    ASSERT_FALSE(read.ok()) << size;
    EXPECT_EQ(read.error().message.find('\n'), std::string::npos) << read.error().message;
  }
  for (const char* text :
       {"[]", "{}", "null", "{\"brigade_position\": 3}",
        "{\"brigade_position\": 3, \"stage\": \"a\", \"order\": [], \"entries\": "
        "[]}",
        "{\"brigade_position\": 3, \"stage\": 7}"})
    EXPECT_FALSE(position_from_json(text).ok()) << text;
  std::string older = whole;
  older.replace(older.find(": 3,"), 4, ": 2,");
  EXPECT_EQ(position_from_json(older).error().message,
            "it cannot be read: it has version 2, expected 3");
  std::string negative = whole;
  negative.replace(negative.find("640"), 3, "-64");
  EXPECT_FALSE(position_from_json(negative).ok());
  PositionFile short_identity = example();
  short_identity.entries[0].identity.pop_back();
  EXPECT_FALSE(position_from_json(position_to_json(short_identity)).ok());
}

}  // namespace
}  // namespace brigade
