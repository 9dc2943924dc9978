// Texts that nobody meant: every seed of the fuzzer cut off at each byte, with each line missing or
// doubled, and with a sign of YAML in many places. Whatever comes of it is a graph or a message.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/config/golden_cases.h"
#include "tests/support/config/load_text.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = BRIGADE_SOURCE_DIR;
const fs::path kSeeds = kRoot / "tests" / "fuzz" / "corpus" / "yaml";

std::vector<std::string> texts_in(const fs::path& folder) {
  std::vector<std::string> texts;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

std::vector<std::string> seeds() { return texts_in(kSeeds); }

void try_text(const std::string& text) {
  const LoadedGraph loaded = LoadText()(text);
  ASSERT_EQ(loaded.graph.has_value(), loaded.diagnostics.ok()) << text;
  ASSERT_TRUE(loaded.graph || !loaded.messages().empty()) << text;
}

TEST(HostileText, CutOffAnywhere) {
  ASSERT_GE(seeds().size(), 3u);
  for (const std::string& text : seeds())
    for (std::size_t end = 0; end < text.size(); ++end) try_text(text.substr(0, end));
}

void try_lines_missing_or_doubled(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const auto lines = split(text, '\n');
    for (std::size_t skip = 0; skip < lines.size(); ++skip) {
      std::string missing;
      std::string doubled;
      for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i != skip) missing += concat(lines[i], "\n");
        doubled += concat(lines[i], "\n");
        if (i == skip) doubled += concat(lines[i], "\n");
      }
      try_text(missing);
      try_text(doubled);
    }
  }
}

TEST(HostileText, LinesMissingOrDoubled) { try_lines_missing_or_doubled(seeds()); }

TEST(HostileText, LinesMissingOrDoubledInGraphsWithMistakes) {
  std::vector<std::string> texts;
  for (const std::string& file : golden_files())
    for (const GoldenCase& one : golden_cases(file)) texts.push_back(one.texts.front());
  ASSERT_GE(texts.size(), 60u);
  try_lines_missing_or_doubled(texts);
}

TEST(HostileText, LinesMissingOrDoubledInGraphsThatPeopleRun) {
  const auto texts = texts_in(kRoot / "configs");
  ASSERT_GE(texts.size(), 10u);
  try_lines_missing_or_doubled(texts);
}

TEST(HostileText, SignsInManyPlaces) {
  const std::string_view signs = "{}[]:,-?\"'&*!|>#%@` \n\t$<~.";
  for (const std::string& text : seeds()) {
    for (std::size_t at = 0; at < text.size(); at += 3) {
      std::string changed = text;
      changed[at] = signs[at / 3 % signs.size()];
      try_text(changed);
      try_text(concat(text.substr(0, at), signs.substr(at % signs.size(), 1), text.substr(at)));
    }
  }
}

}  // namespace
}  // namespace brigade
