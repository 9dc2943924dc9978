#include "pipeline/cli/help/stage_help.h"
#include "pipeline/cli/help/completion_scripts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/text.h>
#include "base/text_table.h"
#include "pipeline/config/language/key_table.h"
#include "pipeline/config/language/key_text.h"
#include "stages/builtin.h"
#include "tests/support/golden.h"

namespace brigade {
namespace {

using testing::HasSubstr;

struct ExampleParams {
  std::int64_t size = 224;
  double flip = 0.5;
  std::vector<std::int64_t> shape = {1, 2};
  InputPath root;
  OutputPath log;
  bool fast = false;
};

struct Example : Stage {
  Result<Next> process(const Inputs&, Outputs&) override { return Next::emit; }
};

StageTypes example_types() {
  StageTypes types;
  types.add_from_module(
      Contract<ExampleParams>("example_stage", "Does everything a stage can do.")
          .transform()
          .takes(Takes::batches)
          .param("size", &ExampleParams::size, 1, 4096, "side in pixels")
          .param("flip", &ExampleParams::flip, 0, 1, "probability per sample")
          .param("shape", &ExampleParams::shape, "of one sample")
          .param("root", &ExampleParams::root, "folder of images")
          .required()
          .param("log", &ExampleParams::log, "where to write")
          .choice("quality", &ExampleParams::fast, {{"best", false}, {"fast", true}}, "of resizing")
          .input("image", {u8, f32}, {any_size, any_size, up_to(4)}, "HWC")
          .one_of({{"path", {u8}, false, {up_to(4096)}, "a file"},
                   {"encoded", {u8}, false, {up_to(1 << 20)}, "its bytes"}})
          .rest_passes()
          .may_drop()
          .stateful()
          .several_inputs()
          .reports("mean", Combine::mean, "of all pixels")
          .example("transform: example_stage\nfrom: images\n"),
      "example");
  types.add<Example>(Contract<ExampleParams>("sink", "Takes anything.").consumer());
  return types;
}

TEST(StageHelp, DescribesAStageTypeFromItsContract) {
  const StageTypes types = example_types();
  expect_golden("process/stage.txt", stage_description(*types.find("example_stage")));
}

TEST(StageHelp, ListsStageTypesByKind) {
  expect_golden("process/stages.txt", stage_list(example_types()));
}

TEST(StageHelp, SaysHowOutputsAreNumbered) {
  const StageTypes types = builtin_stage_types();
  EXPECT_NE(stage_description(*types.find("repack"))
                .find("is a flat_map: any number of outputs for each sample"),
            std::string::npos);
  EXPECT_EQ(stage_description(*types.find("passthrough")).find("flat_map"), std::string::npos);
  EXPECT_NE(stage_description(*types.find("repeat")).find("outputs several samples for each input"),
            std::string::npos);
}

TEST(StageHelp, DescribesEveryStageTypeThereIs) {
  const StageTypes types = builtin_stage_types();
  for (const StageType& type : types.all()) {
    const std::string text = stage_description(type);
    EXPECT_NE(text.find(type.contract.type), std::string::npos);
    for (const ParamSpec& param : type.contract.params) {
      EXPECT_NE(text.find("  " + param.name + " "), std::string::npos) << text;
    }
  }
}

TEST(KeyHelp, HasEveryKey) {
  const std::string text = key_help();
  for (const KeySpec& key : key_table())
    EXPECT_THAT(text, HasSubstr(concat("\n  ", key.name, " "))) << key_path(key);
}

TEST(KeyHelp, SaysWhatAKeyTakesItsUnitAndDefault) {
  EXPECT_THAT(key_help(), HasSubstr("threads that libraries inside one replica may use (a number "
                                    "of threads from 1 to"));
  EXPECT_THAT(key_help(), HasSubstr("when it is short (true or false; default false)"));
}

TEST(KeyHelp, FitsATerminal) {
  const std::string text = key_help();
  for (const std::string_view line : split(text, '\n'))
    EXPECT_LE(text_width(std::string(line)), kTextWidth) << line;
}

std::string script(const char* shell) {
  const auto text = completion_script(
      shell, {{"run", "run a graph", {"--set", "--quiet"}}, {"stages", "what's there", {}}},
      {"count", "synthetic"});
  EXPECT_TRUE(text);
  return text.value_or("");
}

TEST(Completions, OfBashNameCommandsFlagsAndStageTypes) {
  EXPECT_THAT(script("bash"), HasSubstr("words=\"run stages\""));
  EXPECT_THAT(script("bash"), HasSubstr("run) flags=\"--set --quiet\" words=\"\" ;;"));
  EXPECT_THAT(script("bash"), HasSubstr("stages) flags=\"\" words=\"count synthetic\" ;;"));
}

TEST(Completions, OfZshRunThoseOfBash) {
  EXPECT_THAT(script("zsh"), HasSubstr("bashcompinit"));
  EXPECT_THAT(script("zsh"), HasSubstr("complete -o default -F _brigade brigade"));
}

TEST(Completions, OfFishHaveHelp) {
  EXPECT_THAT(script("fish"), HasSubstr("-a stages -d 'what\\'s there'"));
  EXPECT_THAT(script("fish"), HasSubstr("-l quiet"));
  EXPECT_THAT(script("fish"), HasSubstr("-a 'count synthetic'"));
}

TEST(Completions, OtherShellsHaveNone) { EXPECT_FALSE(completion_script("csh", {}, {})); }

}  // namespace
}  // namespace brigade
