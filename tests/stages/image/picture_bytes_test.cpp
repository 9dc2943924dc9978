#include "stages/image/picture_bytes.h"

#include <gtest/gtest.h>

#include <new>

namespace brigade {
namespace {

TEST(PictureBytesTest, KeepsWhatIsSmallAndGivesBackWhatIsLarge) {
  PictureBytes bytes;
  std::uint8_t* const first = bytes.at_least(1000);
  EXPECT_EQ(bytes.at_least(10), first);
  bytes.give_back();
  EXPECT_EQ(bytes.capacity(), 1000U);
  bytes.at_least(kKeptBytesMax);
  bytes.give_back();
  EXPECT_EQ(bytes.capacity(), kKeptBytesMax);
  bytes.at_least(kKeptBytesMax + 1);
  bytes.give_back();
  EXPECT_EQ(bytes.capacity(), 0U);
}

TEST(PictureBytesTest, ClaimsNothingThatItCouldNotGet) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers end the process where memory lacks";
#endif
  PictureBytes bytes;
  bytes.at_least(1000);
  EXPECT_THROW(bytes.at_least(~std::size_t{0} / 2), std::bad_alloc);
  EXPECT_EQ(bytes.capacity(), 0U);
  bytes.at_least(1000)[999] = 1;
}

}  // namespace
}  // namespace brigade
