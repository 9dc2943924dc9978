// What people read is true: the table of keys in docs/KEYS.md is the one of the program, word for
// word (UPDATE_GOLDEN=1 rewrites it), and another page explains each key.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/text.h>
#include "pipeline/config/language/key_text.h"
#include "pipeline/config/language/subset_parser.h"
#include "tests/support/config/config_files.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path kRoot = BRIGADE_SOURCE_DIR;

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string users_cell(const KeySpec& key) {
  if (key.scope != KeyScope::stage || key.users == kAllStages) return "";
  if (key.users == kIndexedProducers) return " Of producers that read by index, and caches.";
  if (key.users == kDividedProducers) return " Of producers that read by index.";
  std::vector<std::string> names;
  if (key.users & kProducers) names.emplace_back("producers");
  if (key.users & kTransforms) names.emplace_back("transforms");
  if (key.users & kConsumers) names.emplace_back("consumers");
  return concat(" Of ", join(names, ", ", " and "), ".");
}

std::string capital(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 32);
  return out;
}

std::string key_rows(KeyScope scope) {
  std::string text = "| key | takes | unit | default | what |\n|---|---|---|---|---|\n";
  for (const KeySpec& key : key_table()) {
    if (key.scope != scope) continue;
    text += concat("| `", key.name, "` | ", cell(key_takes(key)), " | ", key.unit, " | ",
                   cell(key_default(key)), " | ", cell(capital(key.help)), ".", users_cell(key),
                   " |\n");
  }
  return text;
}

std::string value_rows() {
  std::string text = "| value | what |\n|---|---|\n";
  for (const ValueSpec& value : value_table()) {
    const KeySpec& key = *find_key(value.scope, value.key);
    text +=
        concat("| `", key_path(key), ": ", value.value, "` | ", cell(capital(value.help)), ". |\n");
  }
  return text;
}

std::string table_of_keys() {
  constexpr KeyScope kScopes[] = {KeyScope::top,      KeyScope::stage,   KeyScope::source,
                                  KeyScope::on_error, KeyScope::restart, KeyScope::checkpoint,
                                  KeyScope::shard,    KeyScope::shared,  KeyScope::stall};
  static_assert(std::size(kScopes) == kKeyScopes);
  std::string text = "\n";
  for (const KeyScope scope : kScopes)
    text += concat("## ", capital(scope_text(scope)), "\n\n", key_rows(scope), "\n");
  return concat(text, "## Values with names\n\n", value_rows(), "\n");
}

struct Parts {
  std::string before, generated, after;
};

Parts keys_page() {
  const std::string text = file_text(kRoot / "docs" / "KEYS.md");
  const std::size_t mark = text.find("<!-- keys:");
  const std::size_t from = text.find('\n', mark) + 1;
  const std::size_t to = text.find("<!-- end of keys -->");
  EXPECT_TRUE(mark != text.npos && to != text.npos && from <= to);
  return {text.substr(0, from), text.substr(from, to - from), text.substr(to)};
}

TEST(KeysPage, HasTheTableOfKeysWordForWord) {
  const Parts page = keys_page();
  const char* update = std::getenv("UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(kRoot / "docs" / "KEYS.md", std::ios::binary)
        << page.before << table_of_keys() << page.after;
    return;
  }
  EXPECT_EQ(page.generated, table_of_keys()) << "docs/KEYS.md; UPDATE_GOLDEN=1 rewrites it";
}

// A key is explained in words as well.
TEST(KeysPage, ExplainsEveryKey) {
  std::string text;
  for (const auto& entry : fs::directory_iterator(kRoot / "docs"))
    if (entry.is_regular_file() && entry.path().filename() != "KEYS.md")
      text += file_text(entry.path());
  for (const KeySpec& key : key_table())
    EXPECT_THAT(text, HasSubstr(concat(key.name, ":"))) << key.name;
}

}  // namespace
}  // namespace brigade
