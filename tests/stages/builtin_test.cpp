#include "stages/builtin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/harness/params.h>

namespace brigade {
namespace {

TEST(BuiltinTest, ListsEveryTypeOnce) {
  const StageTypes types = builtin_stage_types();
  std::vector<std::string> names;
  for (const StageType& type : types.all()) names.push_back(type.contract.type);
  EXPECT_THAT(names, testing::UnorderedElementsAre(
                         "synthetic", "npy", "csv", "lines", "passthrough", "repack", "merge",
                         "repeat", "cache", "cached", "delay", "count", "to_device", "from_device",
                         "application", "application", "idx_images", "image_folder", "image_list",
                         "tar_shards", "cifar_binary", "augment_image", "augment", "mix_batch",
                         "normalize_image", "decode_image", "torch_classifier"));
}

TEST(BuiltinTest, EveryTypeHasABodyOrSaysWhichModuleHasIt) {
  const StageTypes types = builtin_stage_types();
  for (const StageType& type : types.all()) {
    if (type.contract.application) continue;  // its body is a program
    const bool body = type.indexed ? bool(type.make_producer) : bool(type.make_stage);
    EXPECT_NE(body, !type.module.empty()) << type.contract.type;
  }
}

using testing_support::make_params;
using testing_support::ParamTexts;

TEST(BuiltinTest, SyntheticCountsItsSamples) {
  const StageTypes types = builtin_stage_types();
  const StageContract& contract = types.find("synthetic")->contract;
  EXPECT_EQ(contract.samples(make_params(contract, {{"count", "70"}}).value().get(), {}), 70u);
}

TEST(BuiltinTest, TypesSayWhetherTheyDraw) {
  const StageTypes types = builtin_stage_types();
  const auto draws = [&](const char* type, const ParamTexts& params) {
    const StageContract& contract = types.find(type)->contract;
    return contract.draws(make_params(contract, params).value().get());
  };
  EXPECT_TRUE(draws("augment_image", {{"flip", "0.5"}}));
  EXPECT_TRUE(draws("augment_image", {{"crop", "20"}}));
  EXPECT_TRUE(draws("augment_image", {{"pad", "2"}}));  // where in it the cut begins
  EXPECT_FALSE(draws("augment_image", {}));
  EXPECT_TRUE(draws("decode_image", {{"crop", "random_resized"}}));
  EXPECT_TRUE(draws("decode_image", {{"crop", "center"}, {"flip", "0.5"}}));
  EXPECT_FALSE(draws("decode_image", {{"crop", "center"}}));
}

}  // namespace
}  // namespace brigade
