#include "stages/basic/fingerprint.h"

#include <gtest/gtest.h>

#include <string>

namespace brigade {
namespace {

std::uint64_t of_file(std::string_view bytes) {
  Fingerprint out;
  out.add_file(bytes);
  return out.value();
}

std::uint64_t of_two(std::string_view first, std::string_view second) {
  Fingerprint out;
  out.add_file(first);
  out.add(second);
  return out.value();
}

TEST(Fingerprint, IsThatOfTheBytesAndOfHowTheyAreParted) {
  EXPECT_EQ(of_two("ab", "c"), of_two("ab", "c"));
  EXPECT_NE(of_two("ab", "c"), of_two("ab", "d"));
  EXPECT_NE(of_two("ab", "c"), of_two("a", "bc"));
  EXPECT_NE(of_two("ab", ""), of_two("", "ab"));
  EXPECT_NE(Fingerprint().value(), 0u);
}

TEST(Fingerprint, NoticesEveryByteOfAFileThatIsNotLarge) {
  std::string bytes(kFingerprintWholeBytes, 'x');
  const std::uint64_t before = of_file(bytes);
  for (const std::size_t at : {std::size_t{0}, bytes.size() / 3, bytes.size() - 1}) {
    bytes[at] = 'y';
    EXPECT_NE(of_file(bytes), before) << at;
    bytes[at] = 'x';
  }
  EXPECT_EQ(of_file(bytes), before);
}

TEST(Fingerprint, OfALargeFileItIsThatOfItsSizeItsEndsAndBlocksBetween) {
  std::string bytes(kFingerprintWholeBytes + 1000, 'x');
  const std::uint64_t before = of_file(bytes);
  const auto changes = [&](std::size_t at) {
    bytes[at] = 'y';
    const bool other = of_file(bytes) != before;
    bytes[at] = 'x';
    return other;
  };
  const std::size_t step = (bytes.size() - kFingerprintBlockBytes) / (kFingerprintBlocks - 1);
  EXPECT_TRUE(changes(0));
  EXPECT_TRUE(changes(bytes.size() - 1));
  EXPECT_TRUE(changes(30 * step));
  EXPECT_TRUE(changes(30 * step + kFingerprintBlockBytes - 1));
  EXPECT_FALSE(changes(30 * step + kFingerprintBlockBytes)) << "it would read all of a large file";
  EXPECT_NE(of_file(std::string_view(bytes).substr(1)), before);
}

}  // namespace
}  // namespace brigade
