// The source itself: tests/golden/stages/cached.txt.

#include "stages/basic/fingerprint.h"
#include "stages/basic/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <string>

#include <brigade/text.h>
#include "base/owned_fd.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

TEST(MappedFileTest, ShowsTheBytesAndMoves) {
  const TemporaryFolder folder;
  MappedFile file = MappedFile::open(folder.write("a", "some bytes")).value();
  EXPECT_EQ(file.bytes(), "some bytes");
  MappedFile other = std::move(file);
  EXPECT_EQ(other.bytes(), "some bytes");
  EXPECT_EQ(MappedFile::open(folder.write("b", "")).value().bytes(), "");
}

TEST(MappedFileTest, SaysWhatIsNoFile) {
  const TemporaryFolder folder;
  const std::string none = folder.path() / "none";
  EXPECT_EQ(MappedFile::open(none).error().message,
            none + ": cannot open: No such file or directory");
  EXPECT_EQ(MappedFile::open(folder.path()).error().message,
            folder.path().string() + ": expected a regular file");
}

TEST(MappedFileTest, SaysWhyItCannotBeMapped) {
  const OwnedFd larger_than_memory_can_be(memfd_create("larger", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(larger_than_memory_can_be.get(), std::int64_t{1} << 62), 0);
  const std::string path = concat("/proc/self/fd/", larger_than_memory_can_be.get());
  EXPECT_EQ(MappedFile::open(path).error().message,
            path +
                ": cannot map 4611686018427387904 bytes (Cannot allocate memory); raise the limit "
                "on address space (`ulimit -v`)");
}

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
