// What the check says of graphs and the files that their sources read, word for word, with the
// stage types of the program: tests/golden/sources. A graph whose name begins with `fine` has no
// mistake.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <brigade/text.h>
#include "pipeline/api/load_and_plan.h"
#include "stages/builtin.h"
#include "tests/support/config/golden_cases.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

void make_files(const std::string& text, const TemporaryFolder& folder) {
  for (const std::string_view line : split(text, '\n')) {
    const auto file = strip_prefix(line, "#! file ");
    if (!file) return;
    const std::string name(file->substr(0, file->find(' ')));
    if (name.ends_with("/")) {
      std::filesystem::create_directories(folder.path() / name);
    } else {
      const bool has_text = name.size() < file->size();
      folder.write(
          name, replaced(std::string(has_text ? file->substr(name.size() + 1) : ""), "\\n", "\n"));
    }
  }
}

/// Without what planning says of this machine, which names no file.
std::string messages_of(const std::string& text, const StageTypes& types) {
  const TemporaryFolder folder;
  make_files(text, folder);
  const std::string file = folder.write("g.yaml", text);
  const std::string said = plan_files({{file}, {}, {}}, types).messages;
  std::string messages;
  for (const std::string_view line : split(said, '\n'))
    if (!line.empty() && !line.starts_with("brigade: ")) messages += concat(line, "\n");
  return replaced(std::move(messages), folder.path().string(), "FOLDER");
}

class SourcesGolden : public testing::TestWithParam<std::string> {};

TEST_P(SourcesGolden, MessagesAreWordForWord) {
  const StageTypes types = builtin_stage_types();
  std::string all;
  for (const auto& [name, texts] : golden_cases(GetParam(), "sources")) {
    const std::string messages = messages_of(texts.at(0), types);
    EXPECT_EQ(messages.empty(), name.starts_with("fine")) << name << ": " << messages;
    all += concat("=== ", name, "\n", texts.at(0), "=== says\n", messages);
  }
  expect_golden(concat("sources/", GetParam(), ".txt"), all);
}

INSTANTIATE_TEST_SUITE_P(Files, SourcesGolden, testing::ValuesIn(golden_files("sources")),
                         [](const auto& file) { return file.param; });

}  // namespace
}  // namespace brigade
