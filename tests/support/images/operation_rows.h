#pragma once

// Tables of listed types in pages of docs/, which tests compare with the program's, word for word.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/text.h>
#include "stages/image/listed_types.h"
#include "tests/support/file_text.h"

namespace brigade::testing_support {

inline std::string text_of_default(const ParamSpec& spec) {
  if (spec.required) return "required";
  std::vector<std::string> items;
  for (const ParamValue& item : spec.default_value.items) items.push_back(item.text);
  return spec.default_value.kind == ParamValue::Kind::list ? concat("[", join(items, ", "), "]")
                                                           : spec.default_value.text;
}

template <class Type>
std::string rows_of(std::string_view what, const std::vector<Type>& types) {
  std::string text = concat("\n| ", what, " | parameter | default | what |\n|---|---|---|---|\n");
  for (const Type& type : types) {
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

/// What stands between a mark and the next heading, or the end.
inline void expect_rows(std::string_view page_name, std::string_view mark,
                        const std::string& expected) {
  const std::filesystem::path path = std::filesystem::path(BRIGADE_SOURCE_DIR) / "docs" / page_name;
  const std::string page = file_text(path);
  const std::size_t at = page.find(mark);
  ASSERT_NE(at, std::string::npos) << mark;
  const std::size_t from = page.find('\n', at) + 1;
  const std::size_t to = std::min(page.find("\n## ", from), page.size());
  if (const char* update = std::getenv("UPDATE_GOLDEN"); update != nullptr && *update == '1') {
    std::ofstream(path, std::ios::binary) << page.substr(0, from) << expected << page.substr(to);
    return;
  }
  EXPECT_EQ(page.substr(from, to - from), expected) << "UPDATE_GOLDEN=1 rewrites it";
}

}  // namespace brigade::testing_support
