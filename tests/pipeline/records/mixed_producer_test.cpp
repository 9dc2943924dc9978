#include "pipeline/records/mixed_producer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include <brigade/labels.h>
#include <brigade/text.h>
#include "pipeline/records/source_weights.h"

namespace brigade {
namespace {

using testing::HasSubstr;

/// Files of two classes in turn, of which it remembers those that were read.
class Files final : public Producer, public TellsLabels, public SkipsInputs {
 public:
  Files(std::uint64_t size, std::uint64_t stamp, std::vector<std::string> names = {})
      : size_(size), stamp_(stamp), names_(std::move(names)) {}
  Result<std::uint64_t> size() override { return size_; }
  std::uint64_t fingerprint() override { return stamp_; }
  Result<Next> read(std::uint64_t index, Outputs&) override {
    ++came[index];
    return Next::emit;
  }
  std::string describe(std::uint64_t index) const override { return concat("file ", index); }
  Result<std::int64_t> label_of(std::uint64_t index) override {
    return static_cast<std::int64_t>(index % 10 == 0);
  }
  std::vector<std::string> label_names() const override { return names_; }
  std::vector<SkippedInputs> skipped() const override {
    return {{SkipReason::hidden, 2, "hidden files"}};
  }

  std::map<std::uint64_t, int> came;

 private:
  std::uint64_t size_;
  std::uint64_t stamp_;
  std::vector<std::string> names_;
};

struct Mixture : testing::Test {
  PlanStage mix;
  std::shared_ptr<Files> many = std::make_shared<Files>(1000, 1);
  std::shared_ptr<Files> few = std::make_shared<Files>(30, 2);

  Mixture() {
    mix.mix.shares = {{"few", 0.3}, {"many", 0.7}};
    mix.parts.resize(2);
    mix.parts[0].name = "few";
    mix.parts[1].name = "many";
  }
  Result<std::unique_ptr<MixedProducer>> made() { return MixedProducer::make(mix, {few, many}); }
  Draws draws(MixedProducer& source) {
    const std::uint64_t size = source.size().value();
    return make_draws(mix, source, size, Subset(mix, 0, size)).value();
  }
  std::string error() {
    auto source = made();
    if (!source) return source.error().message;
    const std::uint64_t size = (*source)->size().value();
    const auto draws = make_draws(mix, **source, size, Subset(mix, 0, size));
    return draws ? "" : draws.error().message;
  }
  /// Reads an epoch.
  void read(std::uint32_t epoch) {
    auto source = made().value();
    const Draws order = draws(*source);
    Frame frame;
    Outputs out(frame);
    few->came.clear();
    many->came.clear();
    for (std::uint64_t i = 0; i < order.size(); ++i)
      EXPECT_TRUE(source->read(order.index(order.id(i, order.shift(epoch))), out).ok());
  }
  static int sum(const std::map<std::uint64_t, int>& came) {
    int sum = 0;
    for (const auto& [index, times] : came) sum += times;
    return sum;
  }
};

TEST_F(Mixture, GivesEachPartItsShareOfEveryEpoch) {
  mix.draws = 500;
  for (std::uint32_t epoch = 0; epoch < 10; ++epoch) {
    read(epoch);
    EXPECT_EQ(sum(few->came), 150);
    EXPECT_EQ(sum(many->came), 350);
    EXPECT_EQ(few->came.size(), 30u);
    for (const auto& [index, times] : few->came) EXPECT_EQ(times, 5);
    EXPECT_EQ(many->came.size(), 350u) << "each at most once";
  }
}

// 33.3 and 66.7 of 100.
TEST_F(Mixture, IsExactInTheLongRunWhereSharesAreNoWholeNumbers) {
  mix.mix.shares = {{"few", 1}, {"many", 2}};
  mix.draws = 100;
  int all = 0;
  for (std::uint32_t epoch = 0; epoch < 300; ++epoch) {
    read(epoch);
    const int came = sum(few->came);
    EXPECT_TRUE(came == 33 || came == 34) << came;
    all += came;
  }
  EXPECT_NEAR(all, 10000, 2);
}

TEST_F(Mixture, ReadsOfAPartWhatItsKeysLeave) {
  mix.parts[1].skip = 990;
  mix.draws = 100;
  read(0);
  EXPECT_EQ(many->came.size(), 10u);
  EXPECT_EQ(many->came.begin()->first, 990u);
  auto source = made().value();
  EXPECT_EQ(source->size().value(), 40u);
  EXPECT_EQ(source->describe(31), "many: file 991");
  EXPECT_EQ(source->describe(29), "few: file 29");
  std::uint64_t left = 0;
  for (const SkippedInputs& one : source->skipped()) left += one.count;
  EXPECT_EQ(left, 990u + 2 + 2);
  mix.parts[1].skip = 1000;
  EXPECT_EQ(error(),
            "many: its source has 1,000 samples, but `skip:` and `split:` leave none of them");
}

TEST_F(Mixture, WeighsAPartWithinItsShare) {
  mix.parts[1].weights.balanced = true;
  mix.draws = 1000;
  double rare = 0;  // which every tenth is: one epoch takes each 3 times, another each 4 times
  for (std::uint32_t epoch = 0; epoch < 200; ++epoch) {
    read(epoch);
    EXPECT_EQ(sum(many->came), 700);
    for (const auto& [index, times] : many->came) rare += index % 10 == 0 ? times : 0;
  }
  EXPECT_NEAR(rare / 200, 350, 2);
  mix.parts[1].weights = {};
  mix.parts[1].weights.classes = {{"0", 0}, {"1", 1}};
  mix.parts[1].limit = 1;
  mix.parts[1].take = Take::first;
  mix.parts[1].skip = 1;
  EXPECT_EQ(error(), "many: all its weights are 0, expected at least one above 0");
  mix.mix.shares[1].second = 0;
  EXPECT_EQ(error(), "");
}

TEST_F(Mixture, OfOtherClassesIsRefused) {
  few = std::make_shared<Files>(30, 2, std::vector<std::string>{"cat", "dog"});
  many = std::make_shared<Files>(30, 2, std::vector<std::string>{"cat", "emu"});
  EXPECT_THAT(error(), HasSubstr("label 1 is \"dog\" in \"few\" and \"emu\" in \"many\""));
  many = std::make_shared<Files>(30, 2, std::vector<std::string>{"cat", "dog", "emu"});
  EXPECT_EQ(error(), "");
}

TEST_F(Mixture, IsAnotherOneWhenAPartOrAShareChanges) {
  auto source = made().value();
  const std::uint64_t before = source->fingerprint();
  const std::uint64_t order = draws(*source).hash();
  EXPECT_EQ(made().value()->fingerprint(), before);
  mix.mix.shares[0].second = 0.4;
  EXPECT_NE(draws(*source).hash(), order);
  few = std::make_shared<Files>(30, 3);
  EXPECT_NE(made().value()->fingerprint(), before);
}

}  // namespace
}  // namespace brigade
