#include "pipeline/api/version.h"

#include <brigade/text.h>

#include <algorithm>

namespace brigade {
namespace {

constexpr std::size_t kNameWidth = 11;

std::string line(std::string name, const std::string& text) {
  name.resize(std::max(name.size() + 1, kNameWidth), ' ');
  return concat("\n  ", name, text);
}

}  // namespace

std::string version_text(
    const BuildFacts& facts,
    const std::function<std::optional<std::string>(const std::string&)>& find_module) {
  std::string text = concat("brigade ", facts.version, line("commit", facts.commit),
                            line("compiler", facts.compiler), line("core", facts.libraries));
  for (const PackageFacts& package : facts.packages) {
    const auto file = find_module(package.module);
    text += line(package.module,
                 concat(package.libraries, file ? concat("; ", *file) : "; module not found"));
  }
  return text;
}

std::string libraries_text(const std::vector<PackageFacts>& packages) {
  std::string text;
  for (const PackageFacts& package : packages) text += line(package.module, package.libraries);
  return text.empty() ? text : concat("\nlibraries", text, "\n");
}

}  // namespace brigade
