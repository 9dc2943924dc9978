#include "stages/api/file_length.h"

#include <gtest/gtest.h>

#include "tests/support/message_of.h"

namespace brigade {
namespace {

std::string said(std::uint64_t file_bytes, bool is_gzip, std::uint64_t data_bytes) {
  return message_of(check_length("a", {"", file_bytes, is_gzip}, 16, data_bytes, "u8[2]"));
}

TEST(FileLength, OfAPlainFileIsWhatItsHeaderSays) {
  EXPECT_EQ(said(18, false, 2), "no error");
  EXPECT_EQ(said(17, false, 2),
            "a: ends after 1 bytes of data; its header says u8[2], which is 2 bytes");
  EXPECT_EQ(said(3, false, 2),
            "a: ends after 0 bytes of data; its header says u8[2], which is 2 bytes");
  EXPECT_EQ(said(1018, false, 2),
            "a: contains 1,002 bytes of data; its header says u8[2], which is 2 bytes");
  EXPECT_NE(said(1 << 20, false, ~std::uint64_t{0}), "no error");
}

TEST(FileLength, OfAGzippedFileIsAtMostWhatDeflateExpands) {
  EXPECT_EQ(said(100, true, 100 * kDeflateRatioMax), "no error");
  EXPECT_EQ(said(100, true, 102 * kDeflateRatioMax),
            "a: its header says u8[2], but the file has 100 B");
  EXPECT_NE(said(100, true, ~std::uint64_t{0}), "no error");
}

}  // namespace
}  // namespace brigade
