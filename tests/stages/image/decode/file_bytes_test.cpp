#include "stages/image/decode/file_bytes.h"
#include "stages/image/decode/byte_order.h"
#include "stages/image/decode/picture_bytes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>

#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

TEST(FileBytesTest, ReadsOneFileAfterAnother) {
  const TemporaryFolder folder;
  FileBytes files;
  const std::string big(100'000, 'x');
  for (const std::string& bytes : {std::string("abc"), big, std::string("d")})
    EXPECT_EQ(files.read(folder.write("a", bytes)).value(), bytes);
}

TEST(FileBytesTest, ReadsPartsOfAFileThatStaysOpen) {
  const TemporaryFolder folder;
  FileBytes files;
  const std::string path = folder.write("a", "0123456789");
  EXPECT_EQ(files.read(path, 2, 3).value(), "234");
  std::filesystem::remove(path);
  EXPECT_EQ(files.read(path, 7, 3).value(), "789");  // still open
  EXPECT_EQ(files.read(folder.write("b", "bytes"), 0, 5).value(), "bytes");
  EXPECT_EQ(files.read(path, 0, 1).error().message, "cannot open: No such file or directory");
}

TEST(FileBytesTest, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  FileBytes files;
  const auto error_of = [&](const std::string& path) { return files.read(path).error().message; };
  EXPECT_EQ(error_of(folder.path() / "none"), "cannot open: No such file or directory");
  EXPECT_EQ(error_of(folder.path()), "it is a folder, not a file");
  EXPECT_EQ(error_of(folder.write("empty", "")), "the file is empty");
  const std::string path = folder.write("a", "0123456789");
  for (const auto& [offset, size] :
       {std::pair{8, 3}, std::pair{-1, 2}, std::pair{0, 0}, std::pair{11, 1}, std::pair{2, -1}})
    EXPECT_EQ(files.read(path, offset, size).error().message,
              "bytes " + std::to_string(offset) + " to " + std::to_string(offset) + " + " +
                  std::to_string(size) + " are outside the file, which has 10 bytes");
}

TEST(ByteOrderTest, ReadsBothOrdersAndNothingBeyondTheEnd) {
  const std::string_view bytes = "\x01\x02\x03\xff";
  EXPECT_EQ(number_at(bytes, 0, 4, true), 0x010203ffU);
  EXPECT_EQ(number_at(bytes, 0, 4, false), 0xff030201U);
  EXPECT_EQ(number_at(bytes, 2, 2, false), 0xff03U);
  EXPECT_EQ(number_at(bytes, 3, 1, true), 0xffU);
  EXPECT_EQ(number_at(bytes, 3, 2, true), 0U);
  EXPECT_EQ(number_at(bytes, 5, 1, true), 0U);
}

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
