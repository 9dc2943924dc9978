#include <gtest/gtest.h>

#include <brigade/harness.h>
#include "stages/image/image_stages.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;

/// Labels, then planes in which every byte says where it is.
std::string record(std::string labels, int seed) {
  for (int plane = 0; plane < 3; ++plane)
    for (int i = 0; i < 1024; ++i) labels += static_cast<char>(seed + plane * 50 + i % 50);
  return labels;
}

class CifarBinaryTest : public testing::Test {
 protected:
  CifarBinaryTest() { add_cifar_binary(types_); }

  Result<std::unique_ptr<StageHarness>> open(const std::string& files,
                                             const std::string& format = "cifar10") {
    return StageHarness::open(types_.all()[0], {{{"files", files}, {"format", format}}, {}, {}});
  }

  StageTypes types_;
  TemporaryFolder folder_;
};

TEST_F(CifarBinaryTest, PlanesBecomePixelsOverSeveralFiles) {
  const std::string a = folder_.write("a.bin", record("\x03", 1) + record("\x09", 2));
  const std::string b = folder_.write("b.bin", record(std::string(1, '\0'), 3));
  const auto stage = open("[" + a + ", " + b + "]").value();
  EXPECT_EQ(stage->outputs(), (Ports{{"image", u8, {32, 32, 3}}, {"label", i64, {}}}));
  EXPECT_EQ(*stage->producer().size(), 3u);
  const std::int64_t labels[] = {3, 9, 0};
  for (int i = 0; i < 3; ++i) {
    const HarnessCall call = stage->read(static_cast<std::uint64_t>(i)).value();
    EXPECT_EQ(call["label"].as<std::int64_t>()[0], labels[i]);
    const auto pixels = call["image"].as<std::uint8_t>();
    for (int p = 0; p < 1024; ++p)
      for (int c = 0; c < 3; ++c)
        ASSERT_EQ(pixels[static_cast<std::size_t>(3 * p + c)], 1 + i + c * 50 + p % 50);
  }
  EXPECT_EQ(stage->producer().describe(1), "a.bin: image 1");
  EXPECT_EQ(stage->producer().describe(2), "b.bin: image 0");
}

}  // namespace
}  // namespace brigade
