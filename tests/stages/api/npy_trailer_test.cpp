#include "stages/api/npy_trailer.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

std::string trailer_of(std::string_view bytes, std::string_view identity) {
  NpySum sum;
  sum.add(bytes);
  return sum.trailer(identity);
}

TEST(NpyTrailer, IsTheSameHoweverTheBytesAreCut) {
  const std::string bytes(1000, 'x'), identity(kIdentityDigits, 'a');
  NpySum written, read;
  for (std::size_t i = 0; i < bytes.size(); i += 100) written.add(bytes.substr(i, 100));
  const std::string trailer = written.trailer(identity);
  EXPECT_EQ(trailer, trailer_of(bytes, identity));
  read.add(bytes);
  EXPECT_EQ(read.identity(trailer).value(), identity);
  NpySum other;
  other.add(std::string(1000, 'y'));
  EXPECT_EQ(other.identity(trailer).error().message,
            "it is damaged: its checksum does not match its bytes");
}

TEST(NpyTrailer, IsRecognizedAndTakenOff) {
  const std::string whole = "bytes" + trailer_of("bytes", std::string(kIdentityDigits, 'a'));
  EXPECT_TRUE(has_npy_trailer(whole));
  EXPECT_EQ(without_npy_trailer(whole), "bytes");
  const std::string others = std::string(kNpyTrailerBytes, 'x');
  EXPECT_FALSE(has_npy_trailer(others));
  EXPECT_FALSE(has_npy_trailer("bytes"));
  EXPECT_EQ(without_npy_trailer(others), others);
}

}  // namespace
}  // namespace brigade
