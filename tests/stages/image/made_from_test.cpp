#include "stages/image/made_from.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(MadeFrom, PartsComeBackInOrder) {
  std::string text;
  add_part(text, "a path\n");
  add_part(text, "");
  add_part(text, "-12");
  std::string_view rest = text;
  EXPECT_EQ(take_part(rest), "a path\n");
  EXPECT_EQ(take_part(rest), "");
  EXPECT_EQ(take_number(rest), -12);
  EXPECT_EQ(take_part(rest), std::nullopt);
  EXPECT_EQ(take_number(rest), std::nullopt);
}

TEST(MadeFrom, WhatIsNoNumberIsNone) {
  for (const char* text : {"", "x", "1x", "99999999999999999999"}) {
    std::string part;
    add_part(part, text);
    std::string_view rest = part;
    EXPECT_EQ(take_number(rest), std::nullopt) << text;
  }
  std::string_view open = "12";
  EXPECT_EQ(take_number(open), std::nullopt) << "no end";
}

TEST(MadeFrom, TimesOfFilesAreOfThatClock) {
  struct stat status {};
  ASSERT_EQ(stat("/proc/self/stat", &status), 0);
  EXPECT_LT(std::abs(file_clock_ns() - changed_ns(status)), std::int64_t{3600} * 1'000'000'000);
}

}  // namespace
}  // namespace brigade
