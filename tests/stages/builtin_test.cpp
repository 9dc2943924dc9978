#include "stages/builtin.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include <brigade/harness/params.h>
#include <brigade/text.h>
#include "tests/support/file_text.h"

namespace brigade {
namespace {

TEST(BuiltinTest, ListsEveryTypeOnce) {
  const StageTypes types = builtin_stage_types();
  std::set<std::pair<StageKind, std::string>> names;
  for (const StageType& type : types.all())
    EXPECT_TRUE(names.emplace(type.contract.kind, type.contract.type).second) << type.contract.type;
  for (const char* type : {"synthetic", "to_device", "image_folder", "normalize_image",
                           "decode_image", "torch_classifier"})
    EXPECT_NE(types.find(type), nullptr) << type;
}

TEST(BuiltinTest, APackageCallsWhatItDeclares) {
  for (const char* package : {"basic", "device", "image"}) {
    const std::string text =
        file_text(concat(BRIGADE_SOURCE_DIR "/stages/", package, "/", package, "_stages.h"));
    int found = 0;
    for (std::size_t at = text.find("\nvoid add_"); at != text.npos;
         at = text.find("\nvoid add_", at + 1), ++found) {
      const std::size_t name = at + 6;
      const std::string call = text.substr(name, text.find('(', name) - name) + "(types);";
      EXPECT_NE(text.find(call), text.npos) << call;
    }
    EXPECT_GE(found, 2) << package;
  }
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
