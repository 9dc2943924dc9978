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

TEST_F(CifarBinaryTest, TheFingerprintIsThatOfTheRecords) {
  const auto fingerprint = [&](const std::string& name, char label) {
    const std::string file = folder_.write(name, record("\x03", 1) + record({label}, 2));
    return open(file).value()->producer().fingerprint();
  };
  const std::uint64_t first = fingerprint("a.bin", 9);
  EXPECT_NE(first, 0u);
  EXPECT_EQ(fingerprint("copied.bin", 9), first);
  EXPECT_NE(fingerprint("a.bin", 8), first);
}

TEST_F(CifarBinaryTest, ItsContractCountsByTheSizesOfFilesThatAreNamed) {
  folder_.write("a1.bin", record("\x03", 1) + record("\x09", 2));
  folder_.write("a2.bin", record("\x01", 1));
  folder_.write("cut.bin", "\x01");
  const StageContract& contract = types_.all()[0].contract;
  const auto samples = [&](const std::string& names, const char* format = "cifar10") {
    const ParamTexts texts{{"files", folder_.path() / names}, {"format", format}};
    const auto params = make_params(contract, texts).value();
    return contract.samples(params.get(), read_metadata(contract, texts));
  };
  EXPECT_EQ(samples("a{1..2}.bin"), 3u);
  EXPECT_EQ(samples("a{1..2}.bin", "cifar100"), std::nullopt) << "no whole records";
  EXPECT_EQ(samples("a*.bin"), std::nullopt);
  EXPECT_EQ(samples("cut.bin"), std::nullopt);
  EXPECT_EQ(samples("none.bin"), std::nullopt);
}

TEST_F(CifarBinaryTest, Cifar100HasTwoLabels) {
  const std::string file = folder_.write("train.bin", record("\x13\x63", 0));
  const auto stage = open(file, "cifar100").value();
  const HarnessCall call = stage->read(0).value();
  EXPECT_EQ(call["label"].as<std::int64_t>()[0], 99);
  EXPECT_EQ(call["coarse_label"].as<std::int64_t>()[0], 19);
  EXPECT_EQ(call["image"].as<std::uint8_t>()[1], 50);
}

TEST_F(CifarBinaryTest, AFileOfAnotherSizeIsRefused) {
  const auto error = [&](const std::string& bytes, const std::string& format = "cifar10") {
    const std::string file = folder_.write("x.bin", bytes);
    const std::string message = open(file, format).error().message;
    return message.substr(file.size());
  };
  const std::string ten = record("1", 0);
  const std::string hundred = record("12", 0);
  EXPECT_EQ(error(ten + "x"),
            ": has 3,074 bytes, expected a multiple of 3,073 for cifar10; these are records of "
            "cifar100: write `format: cifar100`");
  EXPECT_EQ(error(ten, "cifar100"),
            ": has 3,073 bytes, expected a multiple of 3,074 for cifar100; these are records of "
            "cifar10: write `format: cifar10`");
  EXPECT_EQ(error(hundred + hundred + "x", "cifar100"),
            ": has 6,149 bytes, expected a multiple of 3,074 for cifar100; is the download "
            "complete?");
  EXPECT_EQ(error(""), ": is empty");
  EXPECT_EQ(error("\x1f\x8b data"), ": is gzipped; unpack it (tar -xzf)");
}

TEST_F(CifarBinaryTest, ALabelThatThereIsNotIsAnError) {
  const std::string file = folder_.write("x.bin", record("\x0a", 0));
  EXPECT_EQ(open(file).value()->read(0).error().message,
            file + ": image 0 has label 10, expected 0 to 9; is this a file of cifar10?");
  const std::string fine = folder_.write("y.bin", record("\x14\x01", 0));
  EXPECT_EQ(open(fine, "cifar100").value()->read(0).error().message,
            fine +
                ": image 0 has label 1, coarse 20, expected 0 to 99, coarse 0 to 19; is this a "
                "file of cifar100?");
}

}  // namespace
}  // namespace brigade
