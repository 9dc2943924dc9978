#include "pipeline/worker/module_loader.h"
#include "pipeline/worker/plugin_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace brigade {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

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

TEST(Loader, FindsTheProgramBesideTheLibrary) {
  const auto program = installed_program();
  ASSERT_TRUE(program.ok()) << program.error().message;
  EXPECT_EQ(*program, BRIGADE_BINARY_DIR "/bin/brigade");
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
            "the body of stage type \"nothing\" is not a producer, as its contract requires");
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

TEST_F(Loading, WhetherAModuleIsThereIsToldWithoutOpeningIt) {
  EXPECT_TRUE(check_module_file(type_of("x", "good")).ok());
  EXPECT_TRUE(check_module_file(type_of("x", "other_layout")).ok());
  EXPECT_TRUE(check_module_file(type_of("x", "")).ok()) << "in this program";
  EXPECT_EQ(check_module_file(type_of("x", "nowhere")).error().message, mistake("nowhere", "x"));
}

TEST_F(Loading, AModuleOfAnotherBuildIsRefusedWithBothLayouts) {
  EXPECT_THAT(mistake("other_layout", "x"),
              AllOf(HasSubstr("built against another version of Brigade"),
                    HasSubstr(std::to_string(module_layout_hash())),
                    HasSubstr(std::to_string(module_layout_hash() + 1))));
}

TEST_F(Loading, ASharedObjectThatIsNoModuleIsSaid) {
  EXPECT_THAT(mistake("no_symbol", "x"), HasSubstr("is not a module of Brigade"));
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
  setenv(kModulePathVariable, "", 1);
  EXPECT_THAT(module_folders(), testing::Contains(BRIGADE_BINARY_DIR "/lib/brigade"));
  unsetenv(kModulePathVariable);
  EXPECT_THAT(module_folders(), testing::Contains(BRIGADE_BINARY_DIR "/lib/brigade"));
}

const std::string kFolder = BRIGADE_BINARY_DIR "/tests/modules";
const std::string kPlugin = kFolder + "/brigade_plugin.so";

std::string mistake(const std::string& file) {
  const auto types = open_plugin(kFolder + "/" + file);
  return types.ok() ? "" : types.error().message;
}

StageTypes opened() { return open_plugin(kPlugin).value(); }

StageType heavy_type() {
  const StageTypes types = opened();
  return *types.find("heavy");
}

TEST(PluginLoader, EveryTypeSaysWhichLibraryHasContractAndBody) {
  const StageTypes types = opened();
  ASSERT_EQ(types.all().size(), 2u);
  EXPECT_EQ(types.find("light")->module, kPlugin);
  EXPECT_EQ(types.find("heavy")->module, kFolder + "/brigade_plugin.so");
  EXPECT_TRUE(is_of_plugin(*types.find("light")));
  EXPECT_FALSE(is_of_plugin(StageType{}));
}

TEST(PluginLoader, BodiesAreMadeWhereverTheyAre) {
  const StageTypes types = opened();
  EXPECT_TRUE(stage_maker(*types.find("light"))().ok());
  EXPECT_TRUE(stage_maker(*types.find("heavy"))().ok());
  EXPECT_EQ(producer_maker(*types.find("light"))().error().message,
            "the body of stage type \"light\" is not a producer, as its contract requires");
}

TEST(PluginLoader, WhatIsNoPluginIsSaid) {
  EXPECT_THAT(mistake("brigade_no_symbol.so"), StartsWith("is not a plugin of Brigade"));
  EXPECT_THAT(mistake("brigade_good.so"), StartsWith("is a module"));
  EXPECT_THAT(mistake("brigade_missing_symbol.so"),
              StartsWith("cannot be opened: undefined symbol: nobody_has_this"));
  EXPECT_THAT(mistake("nowhere.so"), HasSubstr("No such file"));
}

TEST(PluginLoader, TheTypesOfAGraphAreTheProgramsAndItsPlugins) {
  StageTypes program;
  program.add(StageType{});
  ValidGraph graph;
  graph.plugins.push_back({kPlugin, std::make_shared<const StageTypes>(opened())});
  const StageTypes with = types_of(program, graph);
  const StageTypes without = types_of(program, {});
  EXPECT_EQ(with.all().size(), 3u);
  EXPECT_EQ(without.all().size(), 1u);
}

TEST(PluginLoader, AnotherContractIsRefusedWithBothHashes) {
  StageType heavy = heavy_type();
  EXPECT_TRUE(check_module_contract(heavy).ok());
  heavy.contract.may_drop = true;
  const auto compared = check_module_contract(heavy);
  ASSERT_FALSE(compared.ok());
  const std::string hash = std::to_string(heavy.contract.hash());
  heavy.contract.may_drop = false;
  EXPECT_THAT(compared.error().message, HasSubstr("expected " + hash));
  EXPECT_THAT(compared.error().message, HasSubstr(std::to_string(heavy.contract.hash())));
}

TEST(PluginLoader, AModuleWithoutTheContractIsRefused) {
  StageType other = heavy_type();
  other.contract.type = "other";
  EXPECT_THAT(check_module_contract(other).error().message,
              HasSubstr("has no contract of stage type \"other\""));
  other.module = kFolder + "/brigade_good.so";
  EXPECT_THAT(check_module_contract(other).error().message, HasSubstr("is a module"));
}

TEST(PluginLoader, ALibraryThatIsGoneIsSaid) {
  EXPECT_TRUE(check_library(kPlugin, "heavy").ok());
  EXPECT_EQ(check_library("/nowhere.so", "heavy").error().message,
            "there is no /nowhere.so, which contains the body of \"heavy\"; copy it into the "
            "folder of the plugin, with which it was built");
}

}  // namespace
}  // namespace brigade
