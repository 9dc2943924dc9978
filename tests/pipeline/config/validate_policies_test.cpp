#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/load_text.h"

namespace brigade {
namespace {

using testing::HasSubstr;
using Policy = RestartSpec::Policy;

TEST(ValidatePolicies, Defaults) {
  const auto loaded = LoadText()(with_stages("  show: {consumer: show, from: images}\n"));
  ASSERT_TRUE(loaded.graph);
  const ValidStage& stage = loaded.graph->stages[0];
  EXPECT_EQ(stage.replicas, 1u);
  EXPECT_EQ(stage.threads, 1u);
  EXPECT_EQ(stage.rows, 0u);
  EXPECT_EQ(stage.buffers, 0u);
  EXPECT_EQ(stage.device, "cpu");
  EXPECT_FALSE(stage.on_error.skip);
  EXPECT_EQ(stage.poison_after, 2);
  EXPECT_EQ(stage.random, "images") << "the stream is called like the stage";
  EXPECT_FALSE(stage.shuffle);
  EXPECT_FALSE(stage.seed);
  EXPECT_EQ(stage.limit, 0u);
}

TEST(ValidatePolicies, WhoIsStartedAgain) {
  const auto loaded =
      LoadText()(with_stages("  a: {transform: passthrough, from: images, batch: 2}\n"
                             "  mean: {transform: running_mean, from: a}\n"
                             "  never: {transform: passthrough, from: mean, restart: never}\n"
                             "  show: {consumer: show, from: never}\n"));
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  const auto& stages = loaded.graph->stages;
  EXPECT_EQ(stages[0].restart.policy, Policy::on_failure) << "producers";
  EXPECT_EQ(stages[1].restart.policy, Policy::on_failure) << "transforms";
  EXPECT_EQ(stages[2].restart.policy, Policy::never) << "what keeps state";
  EXPECT_EQ(stages[3].restart.policy, Policy::never) << "as written";
  EXPECT_EQ(stages[4].restart.policy, Policy::never) << "consumers";
}

TEST(ValidatePolicies, AConsumerThatSavesGoesOnIfThereIsAPlaceToSaveIn) {
  const std::string graph = with_stages("  learner: {consumer: learner, from: images}\n");
  const auto without = LoadText()(graph);
  ASSERT_TRUE(without.graph) << without.messages();
  EXPECT_EQ(without.graph->stages[1].restart.policy, Policy::never);
  const auto with = LoadText()(graph + "checkpoint: {file: best.pt}\n");
  ASSERT_TRUE(with.graph) << with.messages();
  EXPECT_EQ(with.graph->stages[1].restart.policy, Policy::on_failure);
  const auto never =
      LoadText()(with_stages("  learner: {consumer: learner, from: images, restart: never}\n") +
                 "checkpoint: {file: best.pt}\n");
  ASSERT_TRUE(never.graph) << never.messages();
  EXPECT_EQ(never.graph->stages[1].restart.policy, Policy::never);
}

TEST(ValidatePolicies, AllReplicasTogetherHaveALimit) {
  const std::string most = with_stages(
      "  a: {transform: passthrough, from: images, replicas: 254}\n"
      "  show: {consumer: show, from: a}\n");
  EXPECT_EQ(messages_of(most), "");
  const std::string one_more = most + "  too: {consumer: show, from: a}\n";
  EXPECT_THAT(messages_of(one_more), HasSubstr("257 replicas, at most 256"));
}

TEST(ValidatePolicies, TheLimitOfTheCommandLineIsForIndexedProducers) {
  LoadText load;
  load.limit = 7;
  const auto loaded =
      load(with_stages("  cam: {producer: camera}\n"
                       "  a: {consumer: show, from: images}\n"
                       "  b: {consumer: show, from: cam}\n"));
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  for (const ValidStage& stage : loaded.graph->stages)
    EXPECT_EQ(stage.limit, stage.name == "images" ? 7u : 0u) << stage.name;
}

}  // namespace
}  // namespace brigade
