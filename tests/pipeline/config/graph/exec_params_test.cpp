#include "pipeline/config/graph/exec_params.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(ExecParams, AreWrittenAsYamlThatMeansTheSame) {
  for (const char* json :
       {"1", "\"1\"", "\"a b\"", R"([1,{"a":null,"b":"x"}])", "\"true\"", "true"})
    EXPECT_EQ(exec_param_text(exec_param_node(json)), json);
}

}  // namespace
}  // namespace brigade
