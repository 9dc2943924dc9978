#include "stages/image/sources/idx_file.h"

#include <gtest/gtest.h>

#include "tests/support/images/idx_files.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;

class IdxFileTest : public testing::Test {
 protected:
  std::string error_of(const std::string& path) { return message_of(read_idx_file(path)); }
  /// The error of a file with these bytes, without its path.
  std::string error_of_bytes(const std::string& bytes) {
    const std::string path = folder_.write("file", bytes);
    const std::string error = error_of(path);
    EXPECT_TRUE(error.starts_with(path + ": ")) << error;
    return error.substr(std::min(error.size(), path.size() + 2));
  }

  TemporaryFolder folder_;
  const std::string sound_ = idx_header(8, {3, 2, 2}) + counting_bytes(12);
};

TEST_F(IdxFileTest, ReadsPlainAndGzippedFiles) {
  for (const auto& path :
       {folder_.write("plain", sound_), write_gzip(folder_ / "packed.gz", sound_)}) {
    const auto data = read_idx_file(path);
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_EQ(data->header.dtype, u8);
    EXPECT_EQ(data->header.shape, (Shape{3, 2, 2}));
    EXPECT_EQ(data->memory != nullptr, path.ends_with(".gz")) << "plain ones are mapped";
    for (int i = 0; i < 12; ++i) EXPECT_EQ(data->bytes[static_cast<std::size_t>(i)], i);
  }
}

TEST_F(IdxFileTest, SizesAreBigEndianAndUnsigned) {
  const auto header = parse_idx_header("f", idx_header(0x0d, {0xfffefdfc, 258}));
  ASSERT_TRUE(header);
  EXPECT_EQ(header->dtype, f32);
  EXPECT_EQ(header->shape, (Shape{0xfffefdfc, 258}));
  EXPECT_EQ(header->bytes, 12u);
}

TEST_F(IdxFileTest, EveryElementCodeIsKnown) {
  const std::pair<int, DType> codes[] = {{8, u8},   {9, i8},   {11, i16},
                                         {12, i32}, {13, f32}, {14, f64}};
  for (auto [code, dtype] : codes)
    EXPECT_EQ(parse_idx_header("f", idx_header(code, {1}))->dtype, dtype);
}

TEST_F(IdxFileTest, TheDataMustHaveTheLengthOfItsHeader) {
  EXPECT_EQ(error_of_bytes(sound_.substr(0, sound_.size() - 1)),
            "ends after 11 bytes of data; its header says [3, 2, 2], which is 12 bytes");
  EXPECT_EQ(error_of_bytes(sound_ + "x"),
            "contains 13 bytes of data; its header says [3, 2, 2], which is 12 bytes");
}

TEST_F(IdxFileTest, ALyingHeaderDoesNotAllocate) {
  EXPECT_EQ(error_of_bytes(idx_header(8, {0xffffffff, 0xffff, 0xffff}) + "x"),
            "ends after 1 bytes of data; its header says [4294967295, 65535, 65535], which is "
            "18,446,181,123,756,261,375 bytes");
  EXPECT_EQ(error_of_bytes(idx_header(8, {0xffffffff, 0xffffffff, 0xffffffff}) + "x"),
            "ends after 1 bytes of data; its header says [4294967295, 4294967295, 4294967295], "
            "which is 18,446,744,073,709,551,615 bytes");
  const std::string packed = write_gzip(folder_ / "lying.gz", idx_header(8, {0xffffffff, 9}) + "x");
  EXPECT_TRUE(message_of(read_idx_file(packed))
                  .starts_with(packed + ": its header says [4294967295, 9], but the file has "));
}

TEST_F(IdxFileTest, OtherElementsThanBytesAreAnError) {
  EXPECT_EQ(error_of_bytes(idx_header(0x0d, {1}) + "1234"), "holds f32 elements; expected u8");
}

TEST_F(IdxFileTest, BrokenGzipDataIsNamed) {
  const std::string path =
      write_gzip(folder_ / "packed.gz", idx_header(8, {4096}) + counting_bytes(4096));
  std::ifstream file(path, std::ios::binary);
  const std::string packed{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(error_of_bytes(packed.substr(0, packed.size() / 2)),
            "the gzip data ends early; check that the download is complete");
  std::string flipped = packed;
  flipped[flipped.size() - 6] = static_cast<char>(flipped[flipped.size() - 6] ^ 1);  // the CRC
  EXPECT_EQ(error_of_bytes(flipped), "broken gzip data: incorrect data check");
}

TEST_F(IdxFileTest, MissingFilesAndFoldersSayWhatTheSystemSays) {
  EXPECT_EQ(error_of(folder_ / "none"), folder_ / "none: cannot open: No such file or directory");
  EXPECT_EQ(error_of(folder_.path()), folder_.path().string() + ": cannot read: Is a directory");
}

}  // namespace
}  // namespace brigade
