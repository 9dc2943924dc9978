#include "stages/basic/mapped_file.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace brigade
