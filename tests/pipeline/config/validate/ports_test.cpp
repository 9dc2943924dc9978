#include "pipeline/config/validate/passed_tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/config/fake_types.h"
#include "tests/support/config/load_text.h"

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
  FakeMetadata metadata;
  const auto loaded = load_graph(
      std::vector<SourceFile>{
          {"g.yaml", "stages: {a: {producer: bad}, b: {consumer: show, from: a}}", "/"}},
      {.files = {},
       .sets = {},
       .limit = {},
       .types = types,
       .metadata = metadata,
       .environment = {},
       .working_directory = "/"});
  EXPECT_FALSE(loaded.graph);
  EXPECT_THAT(loaded.messages(), HasSubstr("stage \"a\": not today"));
}

std::vector<std::string> outputs_of(const std::string& stage) {
  const auto loaded = LoadText()(with_stages(stage + "  show: {consumer: show, from: a}\n"));
  EXPECT_TRUE(loaded.graph) << loaded.messages();
  std::vector<std::string> names;
  if (!loaded.graph) return names;
  const ValidStage& a = *std::prev(loaded.graph->stages.end(), 2);
  for (const TensorType& tensor : a.outputs.tensors) names.push_back(tensor.name);
  // What passes stands at the end, in the same order.
  const std::size_t own = a.outputs.tensors.size() - a.passed.size();
  for (std::size_t i = 0; i < a.passed.size(); ++i)
    EXPECT_EQ(a.passed[i].name, a.outputs.tensors[own + i].name);
  return names;
}

using Names = std::vector<std::string>;

TEST(PassedTensors, WhatTheTypeDoesNotNameTravelsOn) {
  EXPECT_EQ(outputs_of("  a: {transform: augment_image, from: images}\n"),
            (Names{"image", "label"}));
  EXPECT_EQ(outputs_of("  a: {transform: passthrough, from: images}\n"), (Names{"image", "label"}));
}

TEST(PassedTensors, KeepAndDropChoose) {
  EXPECT_EQ(outputs_of("  a: {transform: augment_image, from: images, drop: label}\n"),
            (Names{"image"}));
  EXPECT_EQ(outputs_of("  a: {transform: augment_image, from: images, keep: []}\n"),
            (Names{"image"}));
  EXPECT_EQ(outputs_of("  a: {transform: passthrough, from: images, keep: [label]}\n"),
            (Names{"label"}));
}

TEST(PassedTensors, UnderZipTheyAreChosenByPort) {
  EXPECT_EQ(outputs_of("  m: {producer: synthetic}\n"
                       "  a: {transform: passthrough, from: [images, m], join: zip}\n"),
            (Names{"image", "label", "data"}));
  EXPECT_EQ(outputs_of("  m: {transform: passthrough, from: images}\n"
                       "  a: {transform: passthrough, from: [images, m], join: zip, "
                       "drop: [m.image, images.label]}\n"),
            (Names{"image", "label"}));
}

TEST(PassedTensors, ATypeThatPassesNothingPassesNothing) {
  EXPECT_EQ(outputs_of("  b: {transform: passthrough, from: images, batch: 2}\n"
                       "  a: {transform: running_mean, from: b}\n"),
            (Names{"image"}));
}

TEST(PassedTensors, NothingLeftIsAMistake) {
  EXPECT_THAT(messages_of(with_stages("  a: {transform: passthrough, from: images, keep: []}\n"
                                      "  show: {consumer: show, from: a}\n")),
              HasSubstr("its output has no tensors"));
}

}  // namespace
}  // namespace brigade
