// What a Python stage answers is in python/tests/stage_test.py; here somebody else answers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/config/graph/effective_yaml.h"
#include "pipeline/config/graph/stage_describer.h"
#include "tests/support/config/load_text.h"

namespace brigade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FakeDescriber final : public StageDescriber {
 public:
  Result<std::string> describe(const StageQuestion& question) override {
    asked.push_back(question);
    return answer;
  }
  std::string python_path() override { return "/package"; }

  Result<std::string> answer = std::string(R"({"errors":[],"outputs":[["y","f32",[3,"<=4"]]]})");
  std::vector<StageQuestion> asked;
};

struct Loading {
  FakeDescriber describer;
  FakeMetadata metadata = golden_metadata();

  Loading() {
    metadata.file("/graphs/augment.py", "");
    metadata.file("/usr/bin/python3", "");
  }

  LoadedGraph load(const std::string& stage) {
    return load_graph({{"g.yaml", with_stages("  a: " + stage + "\n"), "/graphs"}},
                      {.files = {},
                       .sets = {},
                       .limit = {},
                       .types = fake_stage_types(),
                       .metadata = metadata,
                       .environment = {},
                       .working_directory = "/home/anna",
                       .describer = &describer});
  }
  std::string messages(const std::string& stage) { return load(stage).messages(); }
};

constexpr const char* kStage =
    "{transform: python, from: images, "
    "params: {call: \"augment.py:flip\", python: /usr/bin/python3, chance: 0.3}}";

TEST(ValidatePython, AsksOnceAndTakesWhatIsAnswered) {
  Loading loading;
  const auto loaded = loading.load(std::string(kStage) + "\n  end: {consumer: count, from: a}");
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  const ValidStage& stage = loaded.graph->stages[1];
  EXPECT_EQ(stage.outputs.tensors[0].text(), "y f32[3, <=4]");
  EXPECT_THAT(stage.exec, ElementsAre("/usr/bin/python3", "-m", "brigade._replica",
                                      "/graphs/augment.py", "flip"));
  EXPECT_EQ(stage.exec_folder, "/graphs");
  ASSERT_EQ(loading.describer.asked.size(), 1u);
  EXPECT_EQ(loading.describer.asked[0].command.back(), "--describe");
  EXPECT_THAT(loading.describer.asked[0].text, HasSubstr(R"("kind":"transform")"));
  EXPECT_THAT(loading.describer.asked[0].text, HasSubstr(R"(["image","u8",[28,28,1]])"));
  EXPECT_THAT(loading.describer.asked[0].text, HasSubstr(R"("chance":0.3)"));
  EXPECT_THAT(loading.describer.asked[0].env, ElementsAre(testing::Pair("PYTHONPATH", "/package")));
  const std::string yaml = effective_yaml(*loaded.graph);
  EXPECT_THAT(yaml, HasSubstr("transform: python"));
  EXPECT_THAT(yaml, HasSubstr("/graphs/augment.py:flip"));
}

TEST(ValidatePython, LeavesAPythonPathThatIsGiven) {
  Loading loading;
  loading.load(
      "{transform: python, from: images, env: {PYTHONPATH: /mine}, "
      "params: {call: \"augment.py:flip\", python: /usr/bin/python3}}");
  ASSERT_EQ(loading.describer.asked.size(), 1u);
  EXPECT_THAT(loading.describer.asked[0].env, ElementsAre(testing::Pair("PYTHONPATH", "/mine")));
}

TEST(ValidatePython, ShowsMistakesWhereTheyAre) {
  Loading loading;
  loading.describer.answer = std::string(
      R"({"errors":[{"at":"chance","message":"no such thing","help":["did you mean"]}]})");
  EXPECT_THAT(loading.messages(kStage), HasSubstr("g.yaml:3:100: error: stage \"a\": no such"));
  loading.describer.answer = Error{"has no package `brigade`"};
  EXPECT_THAT(loading.messages(kStage), HasSubstr("/usr/bin/python3 has no package `brigade`"));
  for (const char* strange : {"", "{", "[]", R"({"errors":[]})", R"({"errors":[{}]})",
                              R"({"errors":[],"outputs":[["y","f31",[]]]})"}) {
    loading.describer.answer = std::string(strange);
    EXPECT_THAT(loading.messages(kStage), HasSubstr("gave an answer that cannot be read"));
  }
  loading.describer.answer = std::string(R"({"errors":[],"outputs":[["y","f32",["<=0"]]]})");
  EXPECT_THAT(loading.messages(kStage), HasSubstr("each dimension must be at least 1"));
}

TEST(ValidatePython, AsksNobodyWhereTheTextIsWrong) {
  Loading loading;
  const auto with = [&](const std::string& params) {
    return loading.messages("{transform: python, from: images, params: {" + params + "}}");
  };
  EXPECT_THAT(with(""), HasSubstr("`params.call` is missing: it names the function"));
  EXPECT_THAT(with("call: flip"), HasSubstr("write FILE.py:NAME or MODULE:NAME"));
  EXPECT_THAT(with("call: \"flip.py:f\""), HasSubstr("there is no file /graphs/flip.py"));
  EXPECT_THAT(with("call: \"m:f\", import_timeout: soon"), HasSubstr("expected a duration"));
  EXPECT_THAT(with("call: \"m:f\", python: ./other"),
              HasSubstr("no Python interpreter \"./other\""));
  EXPECT_THAT(loading.messages("{transform: [python, tile], from: images}"),
              HasSubstr("write it as a separate stage"));
  EXPECT_TRUE(loading.describer.asked.empty());
}

}  // namespace
}  // namespace brigade
