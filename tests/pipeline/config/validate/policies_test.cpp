#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/text.h>
#include "tests/support/config/fake_types.h"
#include "tests/support/config/load_text.h"

namespace brigade {
namespace {

using testing::HasSubstr;
using testing::Not;

using Policy = RestartSpec::Policy;

TEST(ValidatePolicies, Defaults) {
  const auto loaded = LoadText()(with_stages("  show: {consumer: show, from: images}\n"));
  ASSERT_TRUE(loaded.graph);
  const ValidStage& stage = loaded.graph->stages[0];
  EXPECT_EQ(stage.replicas, 1u);
  EXPECT_EQ(stage.threads, 1u);
  EXPECT_EQ(stage.chunk, 0u);
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

TEST(ValidatePolicies, AConsumerThatSavesNothingIsToldSoUnderACheckpoint) {
  const std::string show = with_stages("  show: {consumer: show, from: images}\n");
  EXPECT_EQ(messages_of(show), "");
  EXPECT_THAT(messages_of(show + "checkpoint: {file: best.pt}\n"),
              AllOf(HasSubstr("warning: stage \"show\": `checkpoint:` saves where it stands, but "
                              "nothing that it has learned"),
                    HasSubstr("\"show\" has no `saves()` in its contract")));
  EXPECT_EQ(messages_of(with_stages("  learner: {consumer: learner, from: images}\n") +
                        "checkpoint: {file: best.pt}\n"),
            "");
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

const ValidStage& stage(const LoadedGraph& loaded, const std::string& name) {
  for (const ValidStage& candidate : loaded.graph->stages)
    if (candidate.name == name) return candidate;
  BRIGADE_CHECK(false, name);
}

LoadedGraph load(const std::string& stages) {
  LoadedGraph loaded = LoadText()(with_stages(stages));
  EXPECT_TRUE(loaded.graph) << loaded.messages();
  return loaded;
}

TEST(ValidateBatches, TheWritersBatchIsTheDefaultOfItsReaders) {
  const auto loaded = load(
      "  a: {transform: passthrough, from: images, batch: 4}\n"
      "  b: {consumer: count, from: a}\n"
      "  c: {consumer: torch_classifier, from: {stage: a, batch: 6}}\n"
      "  d: {consumer: show, from: a}\n");
  EXPECT_EQ(stage(loaded, "a").batch, 4u);
  EXPECT_FALSE(stage(loaded, "a").batched) << "images has no batch";
  EXPECT_EQ(stage(loaded, "b").sources[0].batch, 4u);
  EXPECT_TRUE(stage(loaded, "b").batched);
  EXPECT_EQ(stage(loaded, "c").sources[0].batch, 6u);
  EXPECT_TRUE(stage(loaded, "c").batched);
  EXPECT_FALSE(stage(loaded, "d").batched) << "takes one sample at a time";
}

TEST(ValidateBatches, WhoTakesEitherGetsSamplesWithoutABatch) {
  EXPECT_FALSE(stage(load("  b: {consumer: count, from: images}\n"), "b").batched);
}

TEST(ValidateBatches, UnderZipOneBatchHoldsForAll) {
  const auto loaded = load(
      "  o: {producer: synthetic}\n"
      "  b: {consumer: count, from: [{stage: images, batch: 8}, o], join: zip}\n");
  EXPECT_EQ(stage(loaded, "b").sources[1].batch, 8u);
  EXPECT_TRUE(stage(loaded, "b").batched);
}

TEST(ValidateBatches, UnderEpochsEachHasItsOwn) {
  const auto loaded = load(
      "  o: {producer: synthetic, batch: 3}\n"
      "  b: {consumer: count, from: [{stage: images, batch: 8}, o], join: epochs}\n");
  EXPECT_EQ(stage(loaded, "b").sources[0].batch, 8u);
  EXPECT_EQ(stage(loaded, "b").sources[1].batch, 3u);
}

TEST(ValidateBatches, DropLastHoldsForTheStageThatTakesBatches) {
  const std::string writer =
      "  a: {transform: passthrough, from: images, batch: 4, drop_last: true}\n";
  const auto from_writer = load(writer + "  b: {consumer: count, from: a}\n");
  EXPECT_TRUE(stage(from_writer, "b").drop_last) << "the writer's is the default";
  EXPECT_FALSE(stage(from_writer, "a").drop_last);
  const auto own = load(writer + "  b: {consumer: count, from: a, drop_last: false}\n");
  EXPECT_FALSE(stage(own, "b").drop_last) << "its own comes first";
  const auto reader = load(
      "  a: {transform: passthrough, from: images, batch: 4}\n"
      "  b: {consumer: count, from: a, drop_last: true}\n");
  EXPECT_TRUE(stage(reader, "b").drop_last);
}

TEST(ValidateBatches, AMistakeInABatchIsNotAMissingBatch) {
  const std::string messages =
      messages_of(with_stages("  a: {transform: augment_image, from: images, batch: many}\n"
                              "  t: {consumer: torch_classifier, from: a}\n"));
  EXPECT_THAT(messages, HasSubstr("found \"many\""));
  EXPECT_EQ(messages.find("has no batch"), messages.npos);
}

std::string cached(const std::string& above, const std::string& cache_keys = "",
                   const std::string& below = "") {
  return messages_of(
      with_stages(concat("  cut: {transform: augment_image, from: images, params: {", above, "}}\n",
                         "  kept: {transform: cache, from: cut", cache_keys, "}\n",
                         "  again: {transform: augment_image, from: kept, params: {", below, "}}\n",
                         "  show: {consumer: show, from: again}\n")));
}

TEST(Caches, SayThatWhatIsDrawnAboveThemIsFrozen) {
  EXPECT_THAT(
      cached("flip: 0.5"),
      HasSubstr(
          "warning: stage \"kept\": what \"cut\" draws at random is frozen: it is drawn once, "
          "for all epochs"));
}

TEST(Caches, SayNothingOfWhatIsNotDrawnOrIsBelow) {
  EXPECT_EQ(cached("crop: 20"), "");
  EXPECT_EQ(cached("crop: 20", "", "flip: 0.5"), "");
}

TEST(Caches, OfSeveralEachSpeaksOfThoseDownToTheNext) {
  const std::string said = messages_of(
      with_stages("  a: {transform: augment_image, from: images, params: {flip: 0.5}}\n"
                  "  b: {transform: [passthrough, {augment_image: {flip: 1}}], from: a}\n"
                  "  first: {transform: cache, from: b}\n"
                  "  c: {transform: augment_image, from: first, params: {flip: 0.5}}\n"
                  "  second: {transform: cache, from: c}\n"
                  "  show: {consumer: show, from: second}\n"));
  EXPECT_THAT(said, HasSubstr("stage \"first\": what \"a\" and \"b\" draw at random"));
  EXPECT_THAT(said, HasSubstr("stage \"second\": what \"c\" draws at random"));
}

TEST(Caches, AreShuffledAndCutLikeSources) {
  EXPECT_EQ(cached("crop: 20", ", shuffle: true, seed: 3, limit: 7"), "");
  const auto loaded = LoadText()(
      with_stages("  kept: {transform: cache, from: images, shuffle: true, seed: 3, limit: 7}\n"
                  "  show: {consumer: show, from: kept}\n"));
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  const ValidStage& stage = loaded.graph->stages[1];
  EXPECT_TRUE(stage.shuffle);
  EXPECT_EQ(stage.limit, 7u);
  EXPECT_EQ(stage.seed, 3u);
  EXPECT_EQ(stage.samples, 2u) << "the room it was asked for";
}

TEST(Caches, AreNotAssigned) {
  EXPECT_THAT(cached("crop: 20", ", assign: fixed, replicas: 2"),
              HasSubstr("`assign: fixed` does not go with a cache"));
  EXPECT_EQ(cached("crop: 20", ", assign: shared"), "");
}

TEST(Caches, LearnHowManySamplesThereAreFromContracts) {
  const auto samples = [](const char* count) {
    const auto loaded =
        LoadText()(concat("stages:\n  a: {producer: synthetic, params: {count: ", count,
                          "}}\n  show: {consumer: show, from: a}\n"));
    return loaded.graph ? loaded.graph->stages[0].samples : 1;
  };
  EXPECT_EQ(samples("70"), 70u);
  EXPECT_EQ(samples("13"), 0u) << "a contract may be a user's own code, and throw";
}

}  // namespace
}  // namespace brigade
