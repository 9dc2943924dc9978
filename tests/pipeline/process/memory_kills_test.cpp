#include "pipeline/process/memory_kills.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(MemoryKills, ExplainAsManyDeathsAsThereWere) {
  std::uint64_t count = 5;
  MemoryKills kills([&count] { return count; });
  EXPECT_FALSE(kills.explain_one());
  count += 2;  // at once
  EXPECT_TRUE(kills.explain_one());
  EXPECT_TRUE(kills.explain_one());
  EXPECT_FALSE(kills.explain_one());
}

}  // namespace
}  // namespace brigade
