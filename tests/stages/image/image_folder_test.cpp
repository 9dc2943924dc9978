#include <gtest/gtest.h>

#include <filesystem>

#include "stages/image/image_stages.h"
#include "tests/support/stage_harness.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;

class ImageFolderTest : public testing::Test {
 protected:
  ImageFolderTest() { add_image_folder(types_); }

  Result<std::unique_ptr<StageHarness>> open(const std::string& root, ParamTexts more = {},
                                             OpenContext context = {}) {
    more.emplace_back("root", root);
    return StageHarness::open(types_.all()[0], {more, {}, context});
  }

  StageTypes types_;
  TemporaryFolder folder_;
};

std::string text_of(const HostTensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()};
}

TEST_F(ImageFolderTest, GivesPathsAndLabels) {
  const std::string first = folder_.write("cat/1.jpg", "");
  const std::string second = folder_.write("dog/10.png", "");
  for (const char* slash : {"", "/"}) {
    const auto stage = open(folder_.path().string() + slash).value();
    EXPECT_EQ(stage->outputs(), (Ports{{"path", u8, {up_to(4096)}}, {"label", i64, {}}}));
    EXPECT_EQ(*stage->producer().size(), 2u);
    EXPECT_EQ(text_of(stage->read(0).value()["path"]), first);
    const HarnessCall call = stage->read(1).value();
    EXPECT_EQ(text_of(call["path"]), second);
    EXPECT_EQ(call["path"].shape, Shape{static_cast<std::int64_t>(second.size())});
    EXPECT_EQ(call["label"].as<std::int64_t>(), std::vector<std::int64_t>{1});
    EXPECT_EQ(stage->producer().describe(1), "dog/10.png");
  }
}

TEST_F(ImageFolderTest, ItsContractCountsByAnIndexThatStillHolds) {
  namespace fs = std::filesystem;
  for (const char* name : {"data/b/1.jpg", "data/a/2.jpg", "data/a/3.jpg"}) folder_.write(name, "");
  const std::string root = folder_.path() / "data";
  const auto then = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const char* name : {"data", "data/a", "data/b"})
    fs::last_write_time(folder_.path() / name, then);
  const StageContract& contract = types_.all()[0].contract;
  const ParamTexts texts{{"index", folder_.path() / "data.index"}, {"root", root + "/"}};
  const auto params = make_params(contract, texts).value();
  const auto samples = [&] { return contract.samples(params.get(), read_facts(contract, texts)); };
  EXPECT_EQ(samples(), std::nullopt) << "there is none yet";
  open(root, {{"index", texts[0].second}}).value();
  EXPECT_EQ(samples(), 3u);
  Facts nobody_looks = read_facts(contract, texts);
  nobody_looks.stamp = nullptr;
  EXPECT_EQ(contract.samples(params.get(), nobody_looks), std::nullopt);
  folder_.write("data/a/4.jpg", "");
  EXPECT_EQ(samples(), std::nullopt);
}

TEST_F(ImageFolderTest, TheIndexIsKeptAndGivesTheSame) {
  for (const char* name : {"data/b/1.jpg", "data/a/2.jpg", "data/a/3.jpg"}) folder_.write(name, "");
  const std::string root = folder_.path() / "data";
  const ParamTexts index{{"index", (folder_.path() / "data.index").string()}};
  const auto plain = open(root).value();
  const auto kept = open(root, index).value();
  ASSERT_TRUE(std::filesystem::exists(folder_.path() / "data.index"));
  EXPECT_EQ(plain->producer().fingerprint(), kept->producer().fingerprint());
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(text_of(plain->read(i).value()["path"]), text_of(kept->read(i).value()["path"]));
    EXPECT_EQ(plain->producer().describe(i), kept->producer().describe(i));
  }
}

TEST_F(ImageFolderTest, ARestartKeepsItsNumbersThoughTheFolderChanged) {
  folder_.write("data/a/2.jpg", "");
  const std::string root = folder_.path() / "data";
  const ParamTexts index{{"index", (folder_.path() / "data.index").string()}};
  open(root, index).value();
  folder_.write("data/a/1.jpg", "");
  OpenContext again;
  again.again = true;
  EXPECT_EQ(open(root, index, again).value()->producer().describe(0), "a/2.jpg");
  EXPECT_EQ(open(root, index).value()->producer().describe(0), "a/1.jpg");
}

TEST_F(ImageFolderTest, AnEmptyFolderIsAnErrorOfOpening) {
  EXPECT_EQ(open(folder_.path()).error().message,
            folder_.path().string() +
                ": the folder is empty; expected a folder of images per class, " +
                folder_.path().string() + "/CLASS/*.jpg");
}

}  // namespace
}  // namespace brigade
