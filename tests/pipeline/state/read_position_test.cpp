#include "pipeline/state/read_position.h"

#include <gtest/gtest.h>

#include "pipeline/plan/sample_address.h"
#include "tests/support/number_line.h"

namespace brigade {
namespace {

/// The sink of a line of 100 samples in 2 epochs, batches of 64; its watermark is moved by hand.
class ReadPosition : public testing::Test {
 protected:
  ReadPosition() : run_(support::number_graph(line())) { set_end(run_.control(), 0, 100, 128, 2); }
  static support::NumberLine line() {
    support::NumberLine line;
    line.samples = 100;
    line.batch = 64;
    return line;
  }
  Position at(std::uint64_t number) {
    run_.queue("sink").watermark->level.value.store(number);
    return read_position(run_.plan(), run_.resume(), run_.control(), run_.index("sink"));
  }

  support::RunLine run_;
};

TEST_F(ReadPosition, IsEpochAndIndex) {
  EXPECT_EQ(at(0).queues, (std::vector<SamplePosition>{{0, 0}}));
  EXPECT_EQ(at(64).queues, (std::vector<SamplePosition>{{0, 64}}));
  EXPECT_EQ(at(128 + 64).queues, (std::vector<SamplePosition>{{1, 64}}));
}

TEST_F(ReadPosition, WhereOnlyPaddingIsLeftTheNextEpochBegins) {
  EXPECT_EQ(at(128).queues, (std::vector<SamplePosition>{{1, 0}}));
  EXPECT_EQ(at(100).queues, (std::vector<SamplePosition>{{1, 0}}));
  EXPECT_EQ(at(256).queues, (std::vector<SamplePosition>{{2, 0}}));
}

TEST_F(ReadPosition, SaysWhatTheSourcesWere) {
  run_.context("numbers").words().fingerprint->value.store(77);
  EXPECT_EQ(at(64).sources, (std::vector<SourceIdentity>{{"numbers", 100, 77}}));
}

TEST_F(ReadPosition, CountsWhatWasConsumedAndToldSoFar) {
  run_.context("sink").replica_words().ended.value.store(1);
  const Position position = at(64);
  EXPECT_EQ(position.epoch_ends_told, 1u);
  EXPECT_EQ(position.samples, 64u);
}

TEST_F(ReadPosition, NamesWhatIsInQuarantine) {
  run_.context("mix").words().quarantine.append(SampleAddress{0, 128 + 5}.word());
  EXPECT_EQ(at(64).quarantined, (std::vector<StageSample>{{"mix", 0, 1, 5}}));
}

TEST_F(ReadPosition, NamesEachSampleOnceThatFailed) {
  GraphBuilder graph = support::number_graph(line());
  graph.stage("mix").on_error = {true, 5, 0};
  support::RunLine run(graph, {}, [](const Plan&, ResumePoint& resume) {
    resume.stages[1].skipped = {{0, 0, 5}};
  });
  set_end(run.control(), 0, 100, 128, 2);
  const StageNumber sink = run.index("sink");
  std::uint64_t again = 128;  // the same sample in epoch 1
  while (Permutation(100, 7, 1)(again - 128) != Permutation(100, 7, 0)(5)) ++again;
  run.context("mix").words().skips.append(SampleAddress{0, again}.word());
  const std::uint64_t other = again == 130 ? 131 : 130;
  run.context("mix").words().skips.append(SampleAddress{0, other}.word());
  EXPECT_EQ(read_position(run.plan(), run.resume(), run.control(), sink).skipped,
            (std::vector<StageSample>{{"mix", 0, 0, 5}, {"mix", 0, 1, other - 128}}));
}

TEST_F(ReadPosition, OfAShareOfAnEpochNamesThoseOfThatEpoch) {
  GraphBuilder graph = support::number_graph(line());
  graph.stage("mix").on_error = {true, 0, 5};
  support::RunLine run(graph, {}, [](const Plan&, ResumePoint& resume) {
    resume.stages[1].skipped = {{0, 0, 5}};
  });
  set_end(run.control(), 0, 100, 128, 2);
  run.context("mix").words().skips.append(SampleAddress{0, 128 + 3}.word());
  run.queue("sink").watermark->level.value.store(128);
  EXPECT_EQ(read_position(run.plan(), run.resume(), run.control(), run.index("sink")).skipped,
            (std::vector<StageSample>{{"mix", 0, 1, 3}}));
}

TEST_F(ReadPosition, BeforeTheSourcesHaveOpenedItIsThatOfThePlan) {
  support::RunLine run(support::number_graph(line()), {},
                       [](const Plan& plan, ResumePoint& resume) {
                         resume.index_spaces[0].samples = 100;
                         resume.index_spaces[0].start = 128;
                         for (const StageNumber s : plan.stages.numbers())
                           if (plan.stages[s].kind == StageKind::consumer)
                             resume.stages[s].queues[0].at = 128 + 64;
                       });
  const Position position =
      read_position(run.plan(), run.resume(), run.control(), run.index("sink"));
  EXPECT_EQ(position.queues, (std::vector<SamplePosition>{{1, 64}}));
  EXPECT_EQ(position.sources[0].samples, 100u);
}

TEST_F(ReadPosition, IsExactAnywhereWhereEpochsHaveOneLength) {
  at(64);
  EXPECT_TRUE(position_is_exact(run_.plan(), run_.resume(), run_.control(), run_.index("sink")));
}

TEST(PositionBelowFlatMap, OfAResumedRunIsNotBeforeTheEpochItBeganWith) {
  support::NumberLine line;
  line.epochs = 4;
  GraphBuilder graph = support::number_graph(line);
  graph.transform("again", {"mix"}, {support::kValue});
  graph.type_of("again").contract.numbering = Numbering::flat_map;
  graph.consumer("last", {"again"}).on_error = {true, 5, 0};
  support::RunLine run(graph, {}, [](const Plan&, ResumePoint& resume) {
    resume.stages.back().queues[0].epoch = 2;
    resume.stages.back().skipped = {{0, 0, 5}};
  });
  const StageNumber last = run.index("last");
  const IndexSpaceNumber index_space = run.stage("last").queues[0].index_space;
  const auto at = [&](std::uint64_t number) {
    run.queue("last").watermark->level.value.store(number);
    return read_position(run.plan(), run.resume(), run.control(), last);
  };
  run.control().epoch_ends[index_space].record(0, 0);  // the run began with epoch 1
  EXPECT_EQ(at(3).queues, (std::vector<SamplePosition>{{2, 0}}));
  run.control().epoch_ends[index_space].record(1, 64);
  EXPECT_EQ(at(0).queues, (std::vector<SamplePosition>{{2, 0}}));
  EXPECT_FALSE(position_is_exact(run.plan(), run.resume(), run.control(), last))
      << "other sources go on";
  EXPECT_EQ(at(64).queues, (std::vector<SamplePosition>{{2, 0}}));
  EXPECT_TRUE(position_is_exact(run.plan(), run.resume(), run.control(), last));
  EXPECT_EQ(at(70).queues, (std::vector<SamplePosition>{{2, 0}}));
  EXPECT_FALSE(position_is_exact(run.plan(), run.resume(), run.control(), last));
  run.control().epoch_ends[index_space].record(2, 128);
  EXPECT_EQ(at(128).queues, (std::vector<SamplePosition>{{3, 0}}));
  run.context("last").words().skips.append(70);
  EXPECT_EQ(at(128).skipped, (std::vector<StageSample>{{"last", 0, 0, 5}, {"last", 0, 2, 6}}));
}

}  // namespace
}  // namespace brigade
