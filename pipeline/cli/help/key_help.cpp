#include "pipeline/cli/help/key_help.h"

#include <brigade/text.h>
#include "base/text_table.h"
#include "pipeline/config/language/key_printer.h"
#include "pipeline/config/language/key_text.h"

namespace brigade {
namespace {

std::string takes_text(const KeySpec& key) {
  std::string text = key_takes(key);
  if (!key.unit.empty() && text.starts_with("a whole number"))
    text.replace(0, sizeof "a whole number" - 1, concat("a number of ", key.unit));
  const std::string otherwise = key_default(key);
  return otherwise.empty() ? text : concat(text, "; default ", otherwise);
}

std::string scope_keys(KeyScope scope) {
  TextTable table({Align::left, Align::left});
  for (const KeySpec& key : key_table()) {
    if (key.scope != scope) continue;
    table.add({std::string(key.name), concat(key.help, " (", takes_text(key), ")")});
  }
  return concat(scope_text(scope), '\n', table.wrapped("  ", kTextWidth));
}

}  // namespace

std::string key_help() {
  std::string text;
  for (int scope = 0; scope < kKeyScopes; ++scope)
    text += concat(scope == 0 ? "" : "\n", scope_keys(static_cast<KeyScope>(scope)));
  return text;
}

}  // namespace brigade
