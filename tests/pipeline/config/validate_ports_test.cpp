#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/fake_types.h"
#include "tests/support/load_text.h"

namespace brigade {
namespace {

using testing::HasSubstr;

TEST(ValidatePorts, TypesTravelAlongTheLine) {
  const auto loaded = LoadText()(
      with_stages("  a: {transform: augment_image, from: images, params: {crop: 20}, batch: 4}\n"
                  "  train: {consumer: torch_classifier, from: a}\n"));
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  const ValidStage& train = loaded.graph->stages[2];
  ASSERT_EQ(train.sources[0].tensors.tensors.size(), 2u);
  EXPECT_EQ(train.sources[0].tensors.tensors[0].text(), "image u8[20, 20, 1]");
  EXPECT_EQ(train.sources[0].tensors.tensors[1].text(), "label i64[]");
}

TEST(ValidatePorts, OneTensorOfASource) {
  const auto loaded = LoadText()(with_stages("  show: {consumer: show, from: images.label}\n"));
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  ASSERT_EQ(loaded.graph->stages[1].sources[0].tensors.tensors.size(), 1u);
  EXPECT_EQ(loaded.graph->stages[1].sources[0].tensors.tensors[0].name, "label");
}

TEST(ValidatePorts, UnderZipPatternsNameThePort) {
  const std::string other =
      "  rgb: {producer: idx_images, params: {images: /data/large-images.gz}}\n";
  const auto loaded =
      LoadText()("stages:\n" + other +
                 "  minus: {transform: difference, from: {left: rgb, right: rgb}, join: zip}\n"
                 "  show: {consumer: show, from: minus}\n");
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  EXPECT_EQ(loaded.graph->stages[1].outputs.tensors.at(0).text(), "image u8[512, 512, 3]");
}

TEST(ValidatePorts, UnderEpochsEverySourceMustFit) {
  const std::string messages = messages_of(
      with_stages("  other: {producer: synthetic, batch: 4}\n"
                  "  train: {consumer: torch_classifier, from: {train: {stage: images, batch: 4}, "
                  "test: other}, join: epochs}\n"));
  EXPECT_THAT(messages, HasSubstr("\"other\" gives data f32[16]"));
  EXPECT_EQ(messages.find("\"images\" gives"), messages.npos);
}

struct Nothing {};

// A contract of an embedding program may throw.
TEST(ValidatePorts, AnExceptionOfAContractIsAMistakeOfTheGraph) {
  StageTypes types;
  types.add<fake::NoProducer>(Contract<Nothing>("bad", "Throws.")
                                  .producer()
                                  .outputs([](const Nothing&, const Ports&) -> Result<Ports> {
                                    throw std::runtime_error("not\ntoday");
                                  }));
  types.add<fake::NoStage>(Contract<Nothing>("show", "Shows.").consumer());
  FakeFacts facts;
  const auto loaded = load_graph(
      std::vector<SourceFile>{
          {"g.yaml", "stages: {a: {producer: bad}, b: {consumer: show, from: a}}", "/"}},
      {.files = {},
       .sets = {},
       .limit = {},
       .types = types,
       .facts = facts,
       .environment = {},
       .working_directory = "/"});
  EXPECT_FALSE(loaded.graph);
  EXPECT_THAT(loaded.messages(), HasSubstr("stage \"a\": not today"));
}

}  // namespace
}  // namespace brigade
