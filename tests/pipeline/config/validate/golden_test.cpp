// Every message of the language, word for word: tests/support/config/golden_cases.h says how they
// stand in tests/golden/config.

#include <gtest/gtest.h>

#include "tests/support/config/golden_cases.h"
#include "tests/support/config/load_text.h"
#include "tests/support/golden.h"

namespace brigade {
namespace {

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, MessagesAreWordForWord) {
  std::string all;
  for (const auto& [name, texts] : golden_cases(GetParam())) {
    LoadText load;
    std::vector<SourceFile> files;
    for (const std::string& text : texts) {
      all += concat("=== ", files.empty() ? name : "over", "\n", text);
      files.push_back({concat(name, files.empty() ? ".yaml" : ".over.yaml"), text, "/graphs"});
      load.obey(text);
    }
    const std::string messages = load.files(std::move(files)).messages();
    EXPECT_FALSE(messages.empty()) << name << ": a graph without mistakes teaches nothing here";
    all += concat("=== says\n", messages);
  }
  expect_golden(concat("config/", GetParam(), ".txt"), all);
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(golden_files()),
                         [](const auto& file) { return file.param; });

TEST(GoldenFolder, HasManyRules) {
  std::size_t cases = 0;
  for (const std::string& file : golden_files()) cases += golden_cases(file).size();
  EXPECT_GE(cases, 100u);
}

}  // namespace
}  // namespace brigade
