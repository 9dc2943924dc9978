#include "pipeline/config/language/spec_reader.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(SpecReader, KnowsNamesOfStages) {
  for (const char* good : {"a", "_x", "images-2", "A_b"}) EXPECT_TRUE(is_name(good)) << good;
  for (const char* bad : {"", "2a", "-a", "a.b", "a b", "ä"}) EXPECT_FALSE(is_name(bad)) << bad;
  EXPECT_TRUE(is_name(std::string(64, 'a')));
  EXPECT_FALSE(is_name(std::string(65, 'a')));
}

}  // namespace
}  // namespace brigade
