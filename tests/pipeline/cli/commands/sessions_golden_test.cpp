// What commands say, word for word: tests/golden/commands. After `=== NAME` files, each behind a
// line `--- NAME`, and lines `$ brigade ...`; after `=== says` each command, what it printed, what
// it said on standard error (behind a `!`), and its exit code where that is not 0. FOLDER is where
// the files lie. Behind `--yaml`, keys of a stage that have their default are omitted.

#include "pipeline/cli/commands/command_line.h"
#include "pipeline/cli/commands/options.h"

#include <gtest/gtest.h>

#include <brigade/text.h>
#include "tests/support/captured.h"
#include "tests/support/config/default_keys.h"
#include "tests/support/config/golden_cases.h"
#include "tests/support/golden.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

std::string with(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string marked(const std::string& text, const char* mark) {
  std::string lines;
  if (text.empty()) return lines;
  for (const std::string_view line : split(text, '\n')) lines += concat(mark, line, "\n");
  return text.ends_with('\n') ? lines.substr(0, lines.size() - std::string(mark).size() - 1)
                              : lines;
}

std::string session(const std::string& text, const StageTypes& types) {
  const TemporaryFolder folder;
  std::string said;
  std::string name;
  std::string file;
  for (const std::string_view line : split(text, '\n')) {
    if (const auto title = strip_prefix(line, "--- ")) {
      name = *title;
      file.clear();
    } else if (const auto command = strip_prefix(line, "$ brigade")) {
      std::vector<std::string> words;
      for (const std::string_view word : split(trim(*command), ' '))
        if (!word.empty()) words.push_back(with(std::string(word), "FOLDER", folder.path()));
      Captured ran = captured_command(words, types);
      if (words.back() == "--yaml") ran.out = without_default_keys(ran.out);
      said += concat(line, "\n", marked(ran.out, ""), marked(ran.err, "! "));
      if (ran.code != 0) said += concat("exit code ", ran.code, "\n");
    } else if (!name.empty()) {
      file += concat(line, "\n");
      folder.write(name, file);
    }
  }
  return with(std::move(said), folder.path(), "FOLDER");
}

class SessionsGolden : public testing::TestWithParam<std::string> {};

TEST_P(SessionsGolden, AreWordForWord) {
  const StageTypes types = session_stage_types();
  std::string all;
  for (const auto& [name, texts] : golden_cases(GetParam(), "commands"))
    all += concat("=== ", name, "\n", texts.at(0), "=== says\n", session(texts.at(0), types));
  expect_golden(concat("commands/", GetParam(), ".txt"), all);
}

INSTANTIATE_TEST_SUITE_P(Files, SessionsGolden, testing::ValuesIn(golden_files("commands")),
                         [](const auto& file) { return file.param; });

}  // namespace
}  // namespace brigade
