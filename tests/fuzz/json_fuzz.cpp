// A byte that chooses a field, and a text: whatever reads JSON of others gives a value or an error.
// What parse_json() lets through is no deeper than it says, and is printed and read as it was;
// positions and reports that are read are written and read again as they were.

#include <string>

#include <brigade/check.h>
#include "base/json.h"
#include "pipeline/state/position.h"
#include "pipeline/worker/messages.h"
#include "stages/image/index/json_field.h"
#include "tests/fuzz/entry.h"

namespace brigade {
namespace {

int depth_of(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && (text[i] == '[' || text[i] == '{')) {
      deepest = std::max(deepest, ++depth);
    } else if (!quoted && (text[i] == ']' || text[i] == '}')) {
      --depth;
    }
  }
  return deepest;
}

void read_values(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return;
  BRIGADE_CHECK(depth_of(text) <= kJsonDepthMax, depth_of(text));
  const std::string printed = json->dump();
  const auto again = parse_json(printed);
  BRIGADE_CHECK(again && *again == *json, printed);
}

void read_ours(std::string_view text) {
  if (const auto file = position_from_json(text)) {
    const auto again = position_from_json(position_to_json(*file));
    BRIGADE_CHECK(again && *again == *file);
  }
  if (const auto report = parse_report(text))
    BRIGADE_CHECK(print_report(*report).size() <= kReportBytesMax);
  (void)parse_role(text);
}

}  // namespace

void fuzz(std::string_view input) {
  if (input.empty()) return;
  const std::string_view text = input.substr(1);
  read_values(text);
  read_ours(text);
  const char* const fields[] = {"label", "a.b", "", "a.", "class.id"};
  (void)json_integer(text, fields[static_cast<std::uint8_t>(input[0]) % std::size(fields)]);
}

}  // namespace brigade
