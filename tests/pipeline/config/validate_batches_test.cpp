#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/load_text.h"

namespace brigade {
namespace {

using testing::HasSubstr;

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

}  // namespace
}  // namespace brigade
