#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include <brigade/harness.h>
#include <brigade/skipped_inputs.h>
#include "stages/image/image_stages.h"
#include "tests/support/images/tar_files.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;

class TarShardsTest : public testing::Test {
 protected:
  TarShardsTest() {
    add_tar_shards(types_);
    first_ =
        folder_.write("s-0.tar", tar_member("cat_1.jpg", "JPEG") + tar_member("cat_1.cls", "3") +
                                     tar_member("cat_1.txt", "a cat") + tar_end());
    second_ = folder_.write("s-1.tar",
                            tar_member("dog_2.png", "PNG") + tar_member("dog_2.cls", "dog") +
                                tar_member("x.jpg", "x") + tar_member("y.cls", "1") + tar_end());
    shards_ = folder_.path() / "s-{0..1}.tar";
  }

  Result<std::unique_ptr<StageHarness>> open(ParamTexts params, OpenContext context = {}) {
    params.emplace_back("shards", shards_);
    return StageHarness::open(types_.all()[0], {params, {}, context});
  }
  static std::string text_of(const HostTensor& tensor) {
    return {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()};
  }
  static std::int64_t number_of(const HostTensor& tensor) { return tensor.as<std::int64_t>()[0]; }

  StageTypes types_;
  TemporaryFolder folder_;
  std::string first_, second_, shards_;
};

TEST_F(TarShardsTest, SaysWhatItDropsAlsoOfAnIndexThatHoldsAndInItsContract) {
  folder_.write("s-1.tar", tar_member("b.image.jpg", "x") + tar_member("b.label.cls", "1") +
                               tar_member("c.image.jpg", "x") + tar_end());
  const std::vector<SkippedInputs> expected{
      {SkipReason::no_match, 2,
       "keys with neither image nor label; `image: [jpg, image.jpg]`, `label: cls;label.cls` reads "
       "1 of them"}};
  const std::string index = folder_.path() / "index";
  std::this_thread::sleep_for(std::chrono::milliseconds(60));  // what is older counts as unchanged
  for (int i = 0; i < 2; ++i) {
    const auto stage = open({{"index", index}}).value();
    EXPECT_EQ(*stage->producer().size(), 1u);
    EXPECT_EQ(dynamic_cast<const SkipsInputs&>(stage->producer()).skipped(), expected);
  }
  const StageContract& contract = types_.all()[0].contract;
  const ParamTexts texts{{"index", index}, {"shards", shards_}};
  EXPECT_EQ(
      contract.samples(make_params(contract, texts).value().get(), read_metadata(contract, texts)),
      SampleCount(1, expected));
}

TEST_F(TarShardsTest, NamesMembersThatNobodyReadsOnceAlsoOfAnIndexThatHolds) {
  folder_.write("s-1.tar", tar_member("b.jpg", "x") + tar_member("b.cls", "1") +
                               tar_member("b.JSON", "{}") + tar_member("b.txt", "x") +
                               tar_member("c.other.txt", "x") + tar_end());
  const std::string index = folder_.path() / "index";
  std::this_thread::sleep_for(std::chrono::milliseconds(60));  // what is older counts as unchanged
  const std::string said =
      "ignores the members .txt, .json of its keys; `extra: [txt, json]` outputs their bytes";
  const auto lines = [&](ParamTexts params, OpenContext context = {}) {
    std::vector<std::string> all = open(std::move(params), context).value()->reports.lines;
    std::erase_if(all, [](const std::string& line) { return line.starts_with("wrote the index"); });
    return all;
  };
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(lines({{"index", index}}), std::vector<std::string>{said}) << i;
  EXPECT_EQ(lines({{"extra", "[txt]"}}),
            std::vector<std::string>{
                "ignores the members .json of its keys; `extra: [json]` outputs their bytes"});
  EXPECT_EQ(lines({{"label", "cls;txt"}, {"extra", "[json]"}}), std::vector<std::string>{})
      << "all is asked for";
  OpenContext of_another;
  of_another.replica = 1;
  of_another.replicas = 2;
  EXPECT_EQ(lines({}, of_another), std::vector<std::string>{}) << "replica 0 says it";
  OpenContext again;
  again.again = true;
  EXPECT_EQ(lines({}, again), std::vector<std::string>{});
}

TEST_F(TarShardsTest, AnotherFileOfClassesMakesAnotherIndex) {
  folder_.write("s-0.tar", tar_member("a.jpg", "x") + tar_member("a.cls", "wolf") + tar_end());
  const ParamTexts params{{"classes", folder_ / "classes.txt"}, {"index", folder_ / "i"}};
  for (const std::int64_t label : {0, 1}) {
    folder_.write("classes.txt", label == 0 ? "wolf\n" : "cat\nwolf\n");
    EXPECT_EQ(number_of(open(params).value()->read(0).value()["label"]), label);
  }
}

TEST_F(TarShardsTest, AnArchiveThatIsCutOffOrGoneMeanwhileIsNamed) {
  const auto stage = open({{"extra", "[txt]"}}).value(), other = open({{"extra", "[txt]"}}).value();
  std::filesystem::resize_file(first_, 1024);
  EXPECT_EQ(stage->read(0).error().message, first_ + ": cat_1.txt: the archive was truncated");
  std::filesystem::remove(first_);
  std::filesystem::remove(second_);
  EXPECT_EQ(other->read(0).error().message, first_ + ": cannot open: No such file or directory");
  EXPECT_EQ(other->read(1).error().message,
            second_ + ": dog_2.cls: cannot open: No such file or directory");
}

TEST_F(TarShardsTest, ItsContractCountsByAnIndexThatStillHolds) {
  namespace fs = std::filesystem;
  const auto then = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const std::string& shard : {first_, second_}) fs::last_write_time(shard, then);
  const StageContract& contract = types_.all()[0].contract;
  const auto samples = [&](const std::string& shards) {
    const ParamTexts texts{{"index", folder_.path() / "i"}, {"shards", shards}};
    const auto params = make_params(contract, texts).value();
    return contract.samples(params.get(), read_metadata(contract, texts));
  };
  EXPECT_EQ(samples(shards_), std::nullopt) << "there is none yet";
  open({{"index", folder_.path() / "i"}}).value();
  EXPECT_EQ(samples(shards_), 4u);
  EXPECT_EQ(samples("[" + first_ + ", " + second_ + "]"), 4u);
  EXPECT_EQ(samples(first_), std::nullopt) << "it is of two";
  EXPECT_EQ(samples(folder_.path() / "s-*.tar"), std::nullopt) << "who knows what is there now";
  folder_.write("s-0.tar", tar_end());
  EXPECT_EQ(samples(shards_), std::nullopt);
}

TEST_F(TarShardsTest, TheIndexIsKeptAndARestartKeepsTheArchivesThatAWildcardFound) {
  shards_ = folder_.path() / "s-*.tar";
  const ParamTexts params{{"index", (folder_.path() / "i").string()}};
  const auto before = open(params).value();
  ASSERT_TRUE(std::filesystem::exists(folder_.path() / "i"));
  EXPECT_EQ(*before->producer().size(), 4u);
  folder_.write("s-00.tar", tar_member("new.jpg", "x") + tar_member("new.cls", "9") + tar_end());
  OpenContext again;
  again.again = true;
  const auto stage = open(params, again).value();
  EXPECT_EQ(stage->producer().fingerprint(), before->producer().fingerprint());
  EXPECT_EQ(*stage->producer().size(), 4u);
  EXPECT_EQ(stage->producer().describe(1), "s-1.tar: dog_2.png");
  const auto anew = open(params).value();
  EXPECT_EQ(*anew->producer().size(), 5u);
  EXPECT_NE(anew->producer().fingerprint(), before->producer().fingerprint());
}

TEST_F(TarShardsTest, ManyArchivesNeedFewDescriptors) {
  for (int i = 0; i < 100; ++i)
    folder_.write("m-" + std::to_string(i) + ".tar",
                  tar_member("a.jpg", "x") + tar_member("a.cls", std::to_string(i)) +
                      tar_member("a.txt", std::to_string(i)) + tar_end());
  shards_ = folder_.path() / "m-{0..99}.tar";
  const auto stage = open({{"extra", "[txt]"}}).value();
  const auto fds = [] {
    const auto all = std::filesystem::directory_iterator("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto before = fds();
  for (std::uint64_t i = 0; i < 200; ++i)
    EXPECT_EQ(text_of(stage->read(i * 7 % 100).value()["txt"]), std::to_string(i * 7 % 100));
  EXPECT_EQ(fds() - before, 64);
}

}  // namespace
}  // namespace brigade
