#include "pipeline/worker/tasks/error_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/text.h>
#include "tests/support/message_of.h"
#include "tests/support/number_line.h"

namespace brigade {
namespace {

/// numbers (100 samples, P = 128) -> mix, which has the policy under test -> sink.
class Errors : public testing::Test {
 protected:
  void plan(OnError policy, std::uint64_t epochs = 2) {
    support::NumberLine line;
    line.samples = 100;
    line.epochs = epochs;
    line.batch = 64;
    graph_ = support::number_graph(line);
    graph_.stage("mix").on_error = policy;
    graph_.stage("mix").replicas = 2;
    run_.emplace(graph_, nullptr, past_);
    set_end(run_->control(), 0, 100, 128, epochs);
  }

  static SampleInfo info(std::uint64_t number) {
    const auto epoch = static_cast<std::uint32_t>(number / 128);
    return {number, number % 128, Permutation(100, 7, epoch)(number % 128), epoch};
  }
  Result<void> fail(ErrorPolicy& errors, std::uint64_t number) {
    const SampleInfo sample = info(number);
    return errors.failed(0, {&sample, 1}, Error{"bad"});
  }
  ErrorPolicy errors(int replica = 0) { return ErrorPolicy(run_->context("mix", replica)); }
  std::uint64_t listed() { return run_->context("mix").words().skips.size(); }

  GraphBuilder graph_;
  std::function<void(const Plan&, ResumePoint&)> past_;
  std::optional<support::RunLine> run_;
};

TEST_F(Errors, StopNamesTheSample) {
  plan({});
  ErrorPolicy errors = this->errors(1);
  EXPECT_EQ(message_of(fail(errors, 130)),
            concat("sample 130 (id ", info(130).id, " of epoch 1): bad"));
  EXPECT_TRUE(run_->reporter.lines().empty());
}

TEST_F(Errors, SkipSaysALineAndNotesTheNumber) {
  plan({true, 2, 0});
  ErrorPolicy errors = this->errors();
  ASSERT_TRUE(fail(errors, 5).ok());
  EXPECT_EQ(run_->reporter.lines(), std::vector<std::string>{concat(
                                        "skipped sample 5 (id ", info(5).id, " of epoch 0): bad")});
  EXPECT_EQ(run_->context("mix").words().skips.at(0), 5u);
  EXPECT_EQ(run_->context("mix").counters().skipped, 1u);
}

TEST_F(Errors, MoreThanAllowedEndTheRun) {
  plan({true, 2, 0});
  ErrorPolicy errors = this->errors();
  ErrorPolicy other = this->errors(1);
  ASSERT_TRUE(fail(errors, 5).ok());
  ASSERT_TRUE(fail(other, 6).ok());  // the list is the stage's
  const Result<void> failed = fail(errors, 7);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, concat("more samples failed than on_error: skip allows (2 "
                                           "different samples); the last was sample 7 (id ",
                                           info(7).id, " of epoch 0): bad"));
}

TEST_F(Errors, ARedeliveredSampleCountsOnce) {
  plan({true, 1, 0});
  ErrorPolicy errors = this->errors();
  ErrorPolicy successor = this->errors(1);
  ASSERT_TRUE(fail(errors, 5).ok());
  ASSERT_TRUE(fail(successor, 5).ok());
  EXPECT_EQ(listed(), 1u);
}

TEST_F(Errors, TheSameSampleOfAnotherEpochCountsOnce) {
  plan({true, 1, 0});
  std::uint64_t again = 128;
  while (info(again).id != info(5).id) ++again;
  ErrorPolicy errors = this->errors();
  ASSERT_TRUE(fail(errors, 5).ok());
  EXPECT_TRUE(fail(errors, again).ok());
  EXPECT_EQ(listed(), 2u);
  EXPECT_FALSE(fail(errors, again == 128 ? 129 : 128).ok());
}

TEST_F(Errors, APercentageIsOfOneEpoch) {
  plan({true, 0, 3.5});  // 3 of 100
  ErrorPolicy errors = this->errors();
  for (const std::uint64_t number : {0, 1, 2, 128, 129, 130})
    EXPECT_TRUE(fail(errors, number).ok()) << number;
  EXPECT_THAT(message_of(fail(errors, 131)), testing::HasSubstr("(3.5% of an epoch, 3 samples)"));
}

TEST_F(Errors, WhatFailedInAnEarlierRunCountsOnEachSampleOnce) {
  past_ = [](const Plan&, ResumePoint& resume) {
    resume.stages[1].skipped = {{0, 0, 5}, {0, 0, 6}};
  };
  plan({true, 3, 0});
  std::uint64_t again = 128;
  while (info(again).id != info(5).id) ++again;
  ErrorPolicy errors = this->errors();
  EXPECT_TRUE(fail(errors, again).ok());
  EXPECT_TRUE(fail(errors, 7).ok());
  EXPECT_FALSE(fail(errors, 8).ok());
}

TEST_F(Errors, WhatFailedInTheSameEpochOfAnEarlierRunIsPartOfItsShare) {
  past_ = [](const Plan&, ResumePoint& resume) {
    resume.stages[1].skipped = {{0, 1, 0}, {0, 1, 1}};
  };
  plan({true, 0, 3.5});  // 3 of 100
  ErrorPolicy errors = this->errors();
  for (const std::uint64_t number : {0, 1, 2, 130})
    EXPECT_TRUE(fail(errors, number).ok()) << number;
  EXPECT_FALSE(fail(errors, 131).ok());
}

// Of a stream nobody knows how many samples there will be.
TEST_F(Errors, APercentageOfAStreamIsOfItsSamplesSoFarAtLeastAThousand) {
  support::NumberLine line;
  line.batch = 64;
  graph_ = support::number_graph(line);
  graph_.stage("mix").on_error = {true, 0, 1};  // 10 of the first 1,000
  run_.emplace(graph_);
  ErrorPolicy errors = this->errors();
  for (std::uint64_t number = 0; number < 10; ++number)
    EXPECT_TRUE(fail(errors, number).ok()) << number;
  EXPECT_FALSE(fail(errors, 10).ok());
  run_->context("mix").words().queues[0].watermark->level.value = 2'000;  // then 20 may fail
  ErrorPolicy later = this->errors();
  EXPECT_TRUE(fail(later, 11).ok());
}

TEST_F(Errors, AFullListIsTooMany) {
  plan({true, 1, 0}, 100);
  const std::uint64_t capacity = run_->stage("mix").skips_max;
  for (std::uint64_t i = 0; i < capacity; ++i) run_->context("mix").words().skips.append(1000 + i);
  ErrorPolicy errors = this->errors();
  EXPECT_FALSE(fail(errors, 5).ok());
}

TEST_F(Errors, ProducersDescribeTheirSamples) {
  plan({});
  const auto producer = support::make_numbers(100);
  const ErrorPolicy errors(run_->context("numbers"), producer.get());
  const SampleInfo sample{130, 2, 55, 1};
  EXPECT_EQ(errors.describe(0, {&sample, 1}), "sample 130 (id 55 of epoch 1: \"file_55\")");
}

/// numbers -> kept, a cache -> sink; what the sink calls the sample in slot 3 of the cache.
std::string called(const Split& split) {
  GraphBuilder graph;
  ValidStage& numbers = graph.producer("numbers", {{"value", i64, {}}});
  numbers.samples = 100;
  numbers.split = split;
  numbers.part = "a";
  graph.transform("kept", {"numbers"}, {{"value", i64, {}}}).passed = {{"value", 0}};
  graph.type_of("kept").contract.cache = true;
  graph.consumer("sink", {"kept"});
  support::RunLine run(graph);
  run.control().stages[run.index("numbers")].source_samples->value = 100;
  SourceNames names([](const PlanStage&) -> Result<std::shared_ptr<Producer>> {
    return std::shared_ptr<Producer>(support::make_numbers(100));
  });
  ReplicaContext context = run.context("sink");
  context.source_names = &names;
  const SampleInfo sample{3, 3, 3, 0};
  return ErrorPolicy(context).describe(0, {&sample, 1});
}

TEST(ErrorsBelowACache, NameTheSampleOfThePartThatIsKept) {
  EXPECT_EQ(called({}), "sample 3 (id 3 of epoch 0: \"file_3\")");
  const Split split{{{"a", kWholeShare / 10}}, 1};
  StageKeys keys;
  keys.split = split;
  keys.part = "a";
  const std::uint64_t index = Subset(keys, 0, 100)(3);
  ASSERT_NE(index, 3u);
  EXPECT_EQ(called(split), concat("sample 3 (id 3 of epoch 0: \"file_", index, "\")"));
}

TEST_F(Errors, BatchesAreNamedByTheirEnds) {
  plan({});
  const SampleInfo samples[] = {{64, 64, 1, 0}, {65, 65, 2, 0}, {66, 66, 3, 0}};
  EXPECT_EQ(errors().describe(0, samples), "samples 64 to 66 (epoch 0)");
}

/// numbers -> full (flat_map) -> picky -> sink: number 7 has another place in every epoch.
TEST(FlatMappedSamples, ThatFailInEveryEpochCountOnce) {
  GraphBuilder graph;
  graph.graph().epochs = 3;
  graph.producer("numbers", {support::kValue}).shuffle = true;
  graph.transform("full", {"numbers"}, {support::kValue});
  graph.type_of("full").contract.numbering = Numbering::flat_map;
  graph.transform("picky", {"full"}, {support::kValue}).on_error = {true, 1, 0};
  graph.consumer("sink", {"picky"});
  support::RunLine run(graph);
  run.producers["numbers"] = [](int) { return support::make_numbers(20); };
  const auto copy = [](std::int64_t refused) {
    return [refused](int) {
      return std::make_unique<support::LambdaStage>(
          [refused](const Inputs& in, Outputs& out) -> Result<Next> {
            const std::int64_t value = in["value"].as<std::int64_t>()[0];
            if (value == refused) return Error{"bad"};
            out["value"].as<std::int64_t>()[0] = value;
            return Next::emit;
          });
    };
  };
  run.stages["full"] = copy(-1);
  run.stages["picky"] = copy(7);
  run.stages["sink"] = [](int) {
    return std::make_unique<support::LambdaStage>(
        [](const Inputs&, Outputs&) -> Result<Next> { return Next::emit; });
  };
  EXPECT_EQ(message_of(run.run()), "no error");
  EXPECT_EQ(run.audit("picky", "sink").delivered, 57u);
}

}  // namespace
}  // namespace brigade
