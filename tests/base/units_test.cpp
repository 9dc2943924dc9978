#include "base/units.h"

#include <gtest/gtest.h>

#include <limits>

// What is read, refused and printed word for word is in tests/golden/base/units.txt.
namespace brigade {
namespace {

using std::chrono::nanoseconds;

TEST(Print, IsExactAndReadsBack) {
  for (std::uint64_t bytes :
       {0ull, 1ull, 1000ull, 1024ull, 1536ull, 64ull << 20, 3ull << 29, (1ull << 63) - 1})
    EXPECT_EQ(parse_size(print_size(bytes)).value(), bytes) << print_size(bytes);
  for (std::uint64_t billionths : {1ull, 500'000ull, 100'000'000ull, 1'000'000'000ull})
    EXPECT_EQ(parse_share(print_share(billionths)).value(), billionths) << print_share(billionths);
  for (std::int64_t amount :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{1'000'000}, std::int64_t{90'000'000'000},
        std::int64_t{120'000'000'000}, std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(parse_duration(print_duration(nanoseconds(amount))).value().count(), amount);
}

}  // namespace
}  // namespace brigade
