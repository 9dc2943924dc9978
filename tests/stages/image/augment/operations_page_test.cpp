// The table of operations in docs/AUGMENTATION.md is the one of the program, word for word
// (UPDATE_GOLDEN=1 rewrites it).

#include <gtest/gtest.h>

#include <brigade/text.h>
#include "stages/image/augment/operations.h"
#include "tests/support/config_files.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;

std::string text_of_default(const ParamSpec& spec) {
  if (spec.required) return "required";
  std::vector<std::string> items;
  for (const ParamValue& item : spec.default_value.items) items.push_back(item.text);
  return spec.default_value.kind == ParamValue::Kind::list ? concat("[", join(items, ", "), "]")
                                                           : spec.default_value.text;
}

std::string operation_rows() {
  std::string text = "\n| operation | parameter | default | what |\n|---|---|---|---|\n";
  for (const OperationType& type : operation_types()) {
    text += concat("| `", type.name, "` | | | ", type.help, " |\n");
    for (const ParamSpec& spec : type.params) {
      const std::string range = param_range_text(spec);
      text +=
          concat("| | `", spec.name, "` | ", text_of_default(spec), " | ", spec.help,
                 range.empty() ? "" : concat(" (", range, ")"),
                 spec.choices.empty() ? "" : concat(" (", join(spec.choices, ", "), ")"), " |\n");
    }
  }
  return text;
}

TEST(OperationsPageTest, HasEveryOperationAndParameter) {
  const fs::path path = fs::path(BRIGADE_SOURCE_DIR) / "docs" / "AUGMENTATION.md";
  const std::string page = file_text(path);
  const std::size_t mark = page.find("<!-- operations:");
  ASSERT_NE(mark, std::string::npos);
  const std::size_t from = page.find('\n', mark) + 1;
  const std::string expected = operation_rows();
  if (const char* update = std::getenv("UPDATE_GOLDEN"); update != nullptr && *update == '1') {
    std::ofstream(path, std::ios::binary) << page.substr(0, from) << expected;
    return;
  }
  EXPECT_EQ(page.substr(from), expected) << "UPDATE_GOLDEN=1 rewrites it";
}

}  // namespace
}  // namespace brigade
