#include "stages/image/index/shard_scan.h"

#include <gtest/gtest.h>

#include "tests/support/images/tar_files.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;

const TarFields kFields{{"jpg", "png"}, {"cls"}, "", {"txt"}};

Result<ShardScan> scan(const std::string& archive, const TarFields& fields = kFields,
                       const ClassNames* classes = nullptr) {
  return scan_shard_bytes(
      [&archive](std::uint64_t offset, std::size_t size) -> Result<std::string_view> {
        return std::string_view(archive).substr(std::min<std::size_t>(offset, archive.size()),
                                                size);
      },
      archive.size(), fields, classes);
}

TEST(ShardScan, MoreNamesThanClassesCanHaveAreRefused) {
  const TarFields fields{{"jpg"}, {"cls"}, "", {}, true};
  std::string archive;
  for (std::size_t i = 0; i <= kClassNamesMax; ++i) {
    const std::string key = std::to_string(i);
    archive += tar_member(key + ".jpg", "x") + tar_member(key + ".cls", key);
  }
  EXPECT_EQ(message_of(scan(archive + tar_end(), fields)),
            "has more than 65,536 different labels; check that the labels are class names");
  archive.resize(archive.size() - 4 * 512);
  EXPECT_EQ(scan(archive + tar_end(), fields).value().names.size(), kClassNamesMax);
}

TEST(ShardScan, AFileIsReadAsItsBytesAre) {
  TemporaryFolder folder;
  std::string archive;
  for (int i = 0; i < 100; ++i) {
    const std::string key = std::to_string(i);
    archive += tar_member(key + ".jpg", std::string(static_cast<std::size_t>(i * 997), 'x'));
    archive += tar_member(key + ".cls", key);
  }
  archive += tar_end();
  const auto of_file = scan_shard(folder.write("s.tar", archive), kFields);
  const auto of_bytes = scan(archive);
  ASSERT_TRUE(of_file && of_bytes);
  EXPECT_EQ(of_file->keys, of_bytes->keys);
  EXPECT_EQ(of_file->bytes, archive.size());
  ASSERT_EQ(of_file->samples.size(), 100u);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(of_file->samples[i].offset, of_bytes->samples[i].offset);
    EXPECT_EQ(of_file->samples[i].label, i == 0 ? 0 : static_cast<std::int64_t>(i));
  }
}

}  // namespace
}  // namespace brigade
