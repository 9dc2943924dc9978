#include "pipeline/run/epoch_ends.h"

#include <gtest/gtest.h>

#include "tests/support/number_line.h"

namespace brigade {
namespace {

/// The sink of a line of 100 samples in 2 epochs; its mark is moved by hand.
class Ends : public testing::Test {
 protected:
  Ends() : graph_(support::number_graph(line())), run_(graph_) {
    stage_.on_epoch_end = [this](const EpochEnd& end) -> Result<void> {
      told_.push_back(concat(end.source, " ", end.epoch));
      return next_;
    };
    lanes_.emplace(run_.control(), run_.index("sink"), 0);
  }
  static support::NumberLine line() {
    support::NumberLine line;
    line.samples = 100;
    line.batch = 64;
    return line;
  }
  EpochEnds ends() { return EpochEnds(run_.context("sink"), *lanes_, &stage_); }
  void low(std::uint64_t number) { run_.lane("sink").mark->low.value.store(number); }
  std::uint64_t ended_word() { return run_.context("sink").replica_words().ended.value; }

  GraphBuilder graph_;
  support::RunLine run_;
  std::optional<JoinedLanes<SystemPolicy>> lanes_;
  support::LambdaStage stage_{[](const Inputs&, Outputs&) { return Result<Next>(Next::emit); }};
  std::vector<std::string> told_;
  Result<void> next_;
};

TEST_F(Ends, AreToldOnceTheMarkHasPassed) {
  set_end(run_.control(), 0, 100, 128, 2);
  EpochEnds ends = this->ends();
  low(64);
  ASSERT_TRUE(ends.call_passed().ok());
  EXPECT_TRUE(told_.empty());
  low(128);
  ASSERT_TRUE(ends.call_passed().ok());
  ASSERT_TRUE(ends.call_passed().ok());
  EXPECT_EQ(told_, (std::vector<std::string>{"mix 0"}));
  EXPECT_EQ(ended_word(), 1u);
  EXPECT_EQ(run_.context("sink").counters().epochs, 1u);
  low(256);
  ASSERT_TRUE(ends.call_passed().ok());
  ASSERT_TRUE(ends.call_passed().ok());  // nothing beyond the last epoch
  EXPECT_EQ(told_, (std::vector<std::string>{"mix 0", "mix 1"}));
}

TEST_F(Ends, SeveralAreToldInOrder) {
  set_end(run_.control(), 0, 100, 128, 2);
  EpochEnds ends = this->ends();
  low(256);
  ASSERT_TRUE(ends.call_passed().ok());
  EXPECT_EQ(told_, (std::vector<std::string>{"mix 0", "mix 1"}));
}

TEST_F(Ends, WaitUntilThePeriodIsKnown) {
  EpochEnds ends = this->ends();
  low(128);
  ASSERT_TRUE(ends.call_passed().ok());
  EXPECT_TRUE(told_.empty());
  set_end(run_.control(), 0, 100, 128, 2);
  ASSERT_TRUE(ends.call_passed().ok());
  EXPECT_EQ(told_.size(), 1u);
}

TEST_F(Ends, ACallThatFailedIsMadeAgainByTheSuccessor) {
  set_end(run_.control(), 0, 100, 128, 2);
  low(128);
  next_ = Error{"disk full"};
  EpochEnds ends = this->ends();
  const Result<void> called = ends.call_passed();
  ASSERT_FALSE(called.ok());
  EXPECT_EQ(called.error().message,
            "stage \"sink\" (replica 0), end of epoch 0 of \"mix\": disk full");
  EXPECT_EQ(ended_word(), 0u);

  next_ = {};
  EpochEnds successor = this->ends();
  ASSERT_TRUE(successor.call_passed().ok());
  EXPECT_EQ(told_, (std::vector<std::string>{"mix 0", "mix 0"}));
  EpochEnds third = this->ends();
  ASSERT_TRUE(third.call_passed().ok());
  EXPECT_EQ(told_.size(), 2u);
}

TEST_F(Ends, ProducersOnlyCount) {
  set_end(run_.control(), 0, 100, 128, 2);
  JoinedLanes<SystemPolicy> lanes(run_.control(), run_.index("numbers"), 0);
  EpochEnds ends(run_.context("numbers"), lanes, nullptr);
  run_.lane("numbers").mark->low.value.store(128);
  ASSERT_TRUE(ends.call_passed().ok());
  EXPECT_EQ(run_.context("numbers").counters().epochs, 1u);
}

}  // namespace
}  // namespace brigade
