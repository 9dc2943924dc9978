#include "stages/builtin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(BuiltinTest, ListsEveryTypeOnce) {
  const StageTypes types = builtin_stage_types();
  std::vector<std::string> names;
  for (const StageType& type : types.all()) names.push_back(type.contract.type);
  EXPECT_THAT(names, testing::UnorderedElementsAre(
                         "synthetic", "npy", "csv", "lines", "passthrough", "repack", "merge",
                         "repeat", "cache", "delay", "count", "idx_images", "image_folder",
                         "augment_image", "decode_image", "torch_classifier"));
}

TEST(BuiltinTest, EveryTypeHasABodyOrSaysWhichModuleHasIt) {
  const StageTypes types = builtin_stage_types();
  for (const StageType& type : types.all()) {
    const bool body = type.indexed ? bool(type.make_producer) : bool(type.make_stage);
    EXPECT_NE(body, !type.module.empty()) << type.contract.type;
  }
}

}  // namespace
}  // namespace brigade
