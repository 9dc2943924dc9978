#include "pipeline/process/module_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace brigade {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kModules = BRIGADE_BINARY_DIR "/tests/modules";

struct Loading : testing::Test {
  Loading() { setenv(kModulePathVariable, kModules, 1); }
  ~Loading() override { unsetenv(kModulePathVariable); }

  static std::string mistake(const std::string& module, const std::string& type) {
    const auto body = find_module_body(module, type);
    return body.ok() ? "" : body.error().message;
  }
};

StageType type_of(const std::string& name, const std::string& module) {
  StageType type;
  type.contract.type = name;
  type.module = module;
  return type;
}

TEST_F(Loading, FindsTheBodiesOfAModule) {
  const auto stage = find_module_body("good", "nothing");
  ASSERT_TRUE(stage.ok()) << stage.error().message;
  EXPECT_NE((*stage)->make_stage, nullptr);
  EXPECT_EQ((*stage)->make_producer, nullptr);
  EXPECT_TRUE(find_module_body("good", "numbers").ok());
}

TEST_F(Loading, MakesStagesAndProducersOfAModule) {
  const StageType nothing = type_of("nothing", "good");
  const StageType numbers = type_of("numbers", "good");
  EXPECT_TRUE(stage_maker(nothing)().ok());
  EXPECT_EQ(*(*producer_maker(numbers)())->size(), 42u);
}

TEST_F(Loading, ABodyOfTheOtherKindIsAnError) {
  const StageType nothing = type_of("nothing", "good");
  const StageType numbers = type_of("numbers", "good");
  EXPECT_EQ(producer_maker(nothing)().error().message,
            "the body of stage type \"nothing\" is no producer, as its contract says");
  EXPECT_FALSE(stage_maker(numbers)().ok());
  const StageType empty = type_of("empty", "");
  EXPECT_FALSE(stage_maker(empty)().ok());
  EXPECT_FALSE(producer_maker(empty)().ok());
}

TEST_F(Loading, AMissingModuleSaysWhereItWasLookedFor) {
  EXPECT_EQ(mistake("nowhere", "x"),
            std::string("stage type \"x\" is in the module \"nowhere\", which was not found: there "
                        "is no brigade_nowhere.so in ") +
                kModules + "; build it, or set BRIGADE_MODULE_PATH to its folder");
}

TEST_F(Loading, AModuleOfAnotherBuildIsRefusedWithBothLayouts) {
  EXPECT_THAT(mistake("other_layout", "x"),
              AllOf(HasSubstr("built against another version of Brigade"),
                    HasSubstr(std::to_string(module_layout_hash())),
                    HasSubstr(std::to_string(module_layout_hash() + 1))));
}

TEST_F(Loading, ASharedObjectThatIsNoModuleIsSaid) {
  EXPECT_THAT(mistake("no_symbol", "x"), HasSubstr("is no module of Brigade"));
}

TEST_F(Loading, AModuleThatCannotBeOpenedSaysWhatIsMissing) {
  EXPECT_THAT(mistake("missing_symbol", "x"),
              AllOf(HasSubstr("cannot open the module"), HasSubstr("nobody_has_this")));
}

TEST_F(Loading, ATypeThatTheModuleLacksIsSaid) {
  EXPECT_THAT(mistake("good", "x"), HasSubstr("has no stage type \"x\""));
}

TEST_F(Loading, SeveralFoldersAreLookedAtInOrder) {
  setenv(kModulePathVariable, (std::string("/nowhere::") + kModules).c_str(), 1);
  EXPECT_THAT(module_folders(), ElementsAre("/nowhere", kModules));
  EXPECT_TRUE(find_module_body("good", "nothing").ok());
}

TEST_F(Loading, WithoutTheVariableModulesAreBesideTheProgram) {
  unsetenv(kModulePathVariable);
  EXPECT_THAT(module_folders(), testing::Contains(BRIGADE_BINARY_DIR "/lib/brigade"));
}

}  // namespace
}  // namespace brigade
