// torch_classifier in 16 bits, and with pictures that it cuts itself.

#include <gtest/gtest.h>

#include "tests/stages/torch/made_batches.h"

namespace brigade {
namespace {

using namespace testing_support;

TEST(MixedTrainingTest, In16BitsAndChannelsLastItLearnsWhatItDoesInF32) {
  double losses[2];
  for (const bool mixed : {false, true}) {
    const auto stage = open_classifier({{"model", "resnet18"},
                                        {"classes", "2"},
                                        {"lr", "0.02"},
                                        {"precision", mixed ? "bf16" : "f32"},
                                        {"channels_last", mixed ? "true" : "false"}},
                                       two_sources())
                           .value();
    train(*stage, 20);
    ASSERT_TRUE(stage->epoch_end(0, "train"));
    losses[mixed] = stage->reports.numbers["loss"];
    EXPECT_GE(tested(*stage)["accuracy"], 0.95);
  }
  EXPECT_NEAR(losses[0], losses[1], 0.05);
  EXPECT_NE(losses[0], losses[1]);
}

TEST(MixedTrainingTest, F16IsForGpus) {
  OpenContext on_cpu;
  on_cpu.device = "cpu";
  const auto stage =
      open_classifier({{"precision", "f16"}, {"classes", "2"}}, one_source(), on_cpu);
  ASSERT_FALSE(stage);
  EXPECT_EQ(stage.error().message, "precision: f16 needs a GPU; use bf16 on a CPU");
}

TEST(MixedTrainingTest, PicturesAreCutForTrainingAndTheModelHasTheSizeOfTheCut) {
  const auto stage = open_classifier({{"model", "mlp"},
                                      {"classes", "2"},
                                      {"pad", "1"},
                                      {"crop", "6"},
                                      {"flip", "0.5"},
                                      {"lr", "0.01"}},
                                     two_sources())
                         .value();
  train(*stage, 10);
  tested(*stage);
}

}  // namespace
}  // namespace brigade
