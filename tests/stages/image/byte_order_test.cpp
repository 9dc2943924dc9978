#include "stages/image/byte_order.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(ByteOrderTest, ReadsBothOrdersAndNothingBeyondTheEnd) {
  const std::string_view bytes = "\x01\x02\x03\xff";
  EXPECT_EQ(number_at(bytes, 0, 4, true), 0x010203ffU);
  EXPECT_EQ(number_at(bytes, 0, 4, false), 0xff030201U);
  EXPECT_EQ(number_at(bytes, 2, 2, false), 0xff03U);
  EXPECT_EQ(number_at(bytes, 3, 1, true), 0xffU);
  EXPECT_EQ(number_at(bytes, 3, 2, true), 0U);
  EXPECT_EQ(number_at(bytes, 5, 1, true), 0U);
}

}  // namespace
}  // namespace brigade
