#include "pipeline/records/source_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include <brigade/labels.h>
#include <brigade/text.h>
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;

/// 90 samples of class 0, 9 of class 1, 1 of class 2.
class LongTail final : public Producer, public TellsLabels {
 public:
  explicit LongTail(std::vector<std::string> names = {}) : names_(std::move(names)) {}
  Result<std::uint64_t> size() override { return std::uint64_t{100}; }
  Result<Next> read(std::uint64_t, Outputs&) override { return Next::emit; }
  Result<std::int64_t> label_of(std::uint64_t index) override {
    if (index == unlabelled) return Error{"line 3: no label"};
    return index < 90 ? 0 : index < 99 ? 1 : 2;
  }
  std::vector<std::string> label_names() const override { return names_; }

  std::uint64_t unlabelled = 1000;

 private:
  std::vector<std::string> names_;
};

class Unlabelled final : public Producer {
  Result<std::uint64_t> size() override { return std::uint64_t{100}; }
  Result<Next> read(std::uint64_t, Outputs&) override { return Next::emit; }
};

struct SourceWeights : testing::Test {
  PlanStage stage;
  LongTail source{{"cat", "dog", "emu"}};

  Result<Draws> made(Producer& from) {
    return make_draws(stage, from, 100, Subset(stage, stage.seed, 100));
  }
  std::string error(Producer& from) {
    const auto draws = made(from);
    return draws ? "" : draws.error().message;
  }
  std::string error() { return error(source); }
  /// How often each class comes in an epoch.
  std::map<std::int64_t, std::uint64_t> classes(std::uint32_t epoch = 0) {
    const Draws draws = made(source).value();
    std::map<std::int64_t, std::uint64_t> out;
    for (std::uint64_t i = 0; i < draws.size(); ++i)
      ++out[source.label_of(draws.index(draws.id(i, draws.shift(epoch)))).value()];
    return out;
  }
};

using ByClass = std::map<std::int64_t, std::uint64_t>;

TEST_F(SourceWeights, BalancedClassesComeEquallyOften) {
  stage.weights.balanced = true;
  stage.draws = 300;
  for (std::uint32_t epoch = 0; epoch < 10; ++epoch)
    EXPECT_EQ(classes(epoch), (ByClass{{0, 100}, {1, 100}, {2, 100}}));
  stage.draws = 0;
  for (const auto& [label, count] : classes()) EXPECT_NEAR(static_cast<double>(count), 33.3, 1);
}

TEST_F(SourceWeights, OfClassesAreWeightsOfTheirSamples) {
  stage.weights.classes = {{"cat", 0}, {"dog", 2}, {"emu", 6}};
  stage.draws = 240;
  EXPECT_EQ(classes(), (ByClass{{1, 180}, {2, 60}}));
  stage.weights.classes = {{"cat", 1}, {"others", 9}};
  stage.draws = 180;
  EXPECT_EQ(classes(), (ByClass{{0, 90}, {1, 81}, {2, 9}}));
}

TEST_F(SourceWeights, OfClassesWithoutNamesGoByNumber) {
  LongTail numbers;
  stage.weights.classes = {{"0", 1}, {"others", 1}};
  EXPECT_EQ(error(numbers), "");
  stage.weights.classes = {{"7", 1}, {"others", 1}};
  EXPECT_THAT(error(numbers), HasSubstr("has no class \"7\"; its classes are 0, 1, 2"));
  stage.weights.classes = {{"2", 5}, {"others", 1}};
  stage.limit = 50;  // of which none is of class 2
  stage.take = Take::first;
  EXPECT_EQ(error(numbers), "");
}

TEST_F(SourceWeights, NameTheClassThatDoesNotFit) {
  stage.weights.classes = {{"cat", 1}, {"wolf", 1}};
  EXPECT_THAT(error(), HasSubstr("has no class \"wolf\"; its classes are cat, dog, emu"));
  stage.weights.classes = {{"cat", 1}, {"emu", 1}};
  EXPECT_THAT(error(), HasSubstr("class \"dog\" has no weight; write one, or `others: 1`"));
  stage.weights.classes = {{"wolf", 1}, {"others", 1}};
  EXPECT_THAT(error(), HasSubstr("has no class \"wolf\""));
}

TEST_F(SourceWeights, NeedLabels) {
  stage.weights.balanced = true;
  Unlabelled unlabelled;
  EXPECT_THAT(error(unlabelled), HasSubstr("this source has none; write `weights: FILE`"));
  source.unlabelled = 17;
  EXPECT_THAT(error(), HasSubstr("need all labels: line 3: no label"));
  stage.skip = 18;
  EXPECT_EQ(error(), "");
}

TEST_F(SourceWeights, ThatAreAllZeroAreRefused) {
  stage.weights.classes = {{"cat", 0}, {"others", 1}};
  stage.limit = 50;
  stage.take = Take::first;
  EXPECT_THAT(error(), HasSubstr("the weights of all 50 samples are 0"));
}

// t = 0.36: of the shares 0.9, 0.09 and 0.01 the factors are 1, 2 and 6.
TEST_F(SourceWeights, RepeatFactorIsThatOfTheSquareRoot) {
  stage.repeat_factor.below = kWholeShare / 100 * 36;
  EXPECT_EQ(classes(), (ByClass{{0, 90}, {1, 18}, {2, 6}}));
  stage.repeat_factor.below = kWholeShare / 1000;  // below all shares
  EXPECT_EQ(classes(), (ByClass{{0, 90}, {1, 9}, {2, 1}}));
}

// The factor of class 2 is the root of 20, of class 1 of 20/9: 4.47 and 1.49.
TEST_F(SourceWeights, EachSampleComesItsFactorRoundedDownOrUp) {
  stage.repeat_factor.below = kWholeShare / 5;
  const Draws draws = made(source).value();
  EXPECT_EQ(draws.size(), 108u) << "90 + 9 * 1.49 + 4.47 = 107.9";
  double emus = 0;
  for (std::uint32_t epoch = 0; epoch < 100; ++epoch) {
    const ByClass came = classes(epoch);
    EXPECT_GE(came.at(0), 90u);
    EXPECT_GE(came.at(1), 9u);
    EXPECT_TRUE(came.at(2) == 4 || came.at(2) == 5) << came.at(2);
    emus += static_cast<double>(came.at(2));
  }
  EXPECT_NEAR(emus, 447, 5);
}

TEST_F(SourceWeights, OfAFileAreOfAllSamplesOfTheSource) {
  const TemporaryFolder folder;
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += i == 99 ? "3\n" : i == 98 ? "1e0\n" : "0\n\n";
  stage.weights.file = folder.write("weights.txt", lines);
  stage.draws = 100;
  EXPECT_EQ(classes(), (ByClass{{1, 25}, {2, 75}}));
  stage.skip = 99;
  EXPECT_EQ(classes(), (ByClass{{2, 100}}));
  std::string table = "n,w\n";
  for (int i = 0; i < 100; ++i) table += concat(i, i < 90 ? ",0\n" : i < 99 ? ",1\n" : ",27\n");
  stage.skip = 0;
  folder.write("table.csv", table);
  stage.weights.file = folder.path().string() + "/table.csv:w";
  EXPECT_EQ(classes(), (ByClass{{1, 25}, {2, 75}}));
  stage.weights.file = folder.write("short.txt", "1\n2\n");
  EXPECT_THAT(error(), HasSubstr("short.txt: has 2 weights, but its source has 100 samples"));
}

TEST_F(SourceWeights, OfAPartAreOfThatPart) {
  stage.weights.balanced = true;
  stage.split = {{{"train", kWholeShare / 10 * 9}}, 1};
  stage.part = "train";
  stage.draws = 90;
  for (const auto& [label, count] : classes()) EXPECT_TRUE(count == 30 || count == 45) << count;
}

TEST(DrawnProducer, ReadsAndNamesByIndex) {
  class Names final : public Producer {
   public:
    Result<std::uint64_t> size() override { return std::uint64_t{10}; }
    Result<Next> read(std::uint64_t index, Outputs&) override {
      return index < 10 ? Result<Next>(Next::emit) : Error{"out of range"};
    }
    std::string describe(std::uint64_t index) const override { return concat("file ", index); }
  };
  StageKeys keys;
  DrawnProducer drawn(std::make_shared<Names>(),
                      Draws(std::vector<double>(10, 1), 30, 0, 10, Subset(keys, 0, 10)));
  Frame frame;
  Outputs out(frame);
  EXPECT_TRUE(drawn.read(23, out).ok());
  EXPECT_EQ(drawn.describe(23), "file 3");
}

}  // namespace
}  // namespace brigade
