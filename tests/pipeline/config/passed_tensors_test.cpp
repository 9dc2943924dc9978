#include "pipeline/config/passed_tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/load_text.h"

namespace brigade {
namespace {

using testing::HasSubstr;

std::vector<std::string> outputs_of(const std::string& stage) {
  const auto loaded = LoadText()(with_stages(stage + "  show: {consumer: show, from: a}\n"));
  EXPECT_TRUE(loaded.graph) << loaded.messages();
  std::vector<std::string> names;
  if (!loaded.graph) return names;
  const ValidStage& a = loaded.graph->stages[loaded.graph->stages.size() - 2];
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
