#include "pipeline/config/graph/exec_params.h"

#include <gtest/gtest.h>

#include "pipeline/config/yaml/yaml_writer.h"
#include "tests/support/config/load_text.h"

namespace brigade {
namespace {

std::string json_of(const std::string& params) {
  LoadText load;
  load.metadata.file("/bin/run", "");
  const auto loaded = load(
      "stages:\n  a:\n    exec: /bin/run\n    count: 3\n    params: {x: " + params +
      "}\n    tensors: {x: {dtype: u8, shape: []}}\n" + "  show: {consumer: count, from: a}\n");
  return loaded.graph ? loaded.graph->stages[0].param_values[0].second.text : loaded.messages();
}

TEST(ExecParams, AreWhatJsonTakesThemFor) {
  EXPECT_EQ(json_of("1"), "1");
  EXPECT_EQ(json_of("0.5"), "0.5");
  EXPECT_EQ(json_of("true"), "true");
  EXPECT_EQ(json_of("\"1\""), "\"1\"") << "in quotes it is text";
  EXPECT_EQ(json_of("a b"), "\"a b\"");
  EXPECT_EQ(json_of("01"), "\"01\"") << "no number of JSON";
  EXPECT_EQ(json_of("[1, {a: null, b: x}]"), R"([1,{"a":null,"b":"x"}])");
  EXPECT_EQ(json_of("[]"), "[]");
}

TEST(ExecParams, AreWrittenAsYamlThatMeansTheSame) {
  for (const char* json :
       {"1", "\"1\"", "\"a b\"", R"([1,{"a":null,"b":"x"}])", "\"true\"", "true"})
    EXPECT_EQ(exec_param_text(exec_param_node(json)), json);
}

}  // namespace
}  // namespace brigade
