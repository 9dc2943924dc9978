#include "stages/image/in_parallel.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(InParallel, EachIsDoneOnce) {
  for (const std::size_t count : {0, 1, 3, 1000}) {
    std::vector<std::atomic<int>> calls(count);
    in_parallel(count, [&](std::size_t i) { calls[i].fetch_add(1); });
    for (const auto& call : calls) EXPECT_EQ(call.load(), 1);
  }
}

}  // namespace
}  // namespace brigade
