// Which part of the data a process reads, and which of the runs of its machine it is, by what its
// environment, the program and the graph say: tests/golden/language/ranks.txt. A line is
// `NAME=VALUE ...` of the environment; `file=RANK/WORLD` is what the graph says, and
// `program=RANK/WORLD` what the program does (`none`: it tells of ranks, and has none; with a `!`
// behind it: over the graph).

#include "pipeline/config/language/shard.h"
#include "pipeline/config/language/launchers.h"

#include <gtest/gtest.h>

#include <map>

#include <brigade/text.h>
#include "tests/support/config/golden_cases.h"
#include "tests/support/golden.h"

namespace brigade {
namespace {

std::pair<std::uint64_t, std::uint64_t> numbers_of(const std::string& text) {
  const auto number = [](const std::string& one) {
    return one.starts_with("auto") ? ShardSpec::kAuto : std::stoull(one);
  };
  const std::size_t slash = text.find('/');
  return {number(text.substr(0, slash)), number(text.substr(slash + 1))};
}

struct Said {
  ShardSpec spec;
  std::optional<ProgramRank> program;
  std::map<std::string, std::string> environment;

  explicit Said(const std::string& line) {
    for (const std::string_view word : split(line, ' ')) {
      const std::size_t equals = word.find('=');
      if (equals == word.npos) continue;
      const std::string name(word.substr(0, equals)), value(word.substr(equals + 1));
      if (name == "file") {
        const auto [rank, world] = numbers_of(value);
        spec.span = Span{};
        spec.rank = Marked<std::uint64_t>{rank, {}};
        spec.world = Marked<std::uint64_t>{world, {}};
      } else if (name == "program") {
        program = ProgramRank{};
        if (value == "none") continue;
        const auto [rank, world] = numbers_of(value);
        program = ProgramRank{rank, world, value.ends_with('!')};
      } else {
        environment[name] = value;
      }
    }
  }
  Environment lookup() const {
    return [this](const std::string& name) -> std::optional<std::string> {
      const auto found = environment.find(name);
      if (found == environment.end()) return std::nullopt;
      return found->second;
    };
  }
};

std::string shard_text(const Said& said) {
  Diagnostics diagnostics;
  const auto found = resolve_shard(said.spec, said.lookup(), said.program, diagnostics);
  if (!found) return concat("  ", diagnostics.all().at(0).message, "\n");
  std::string text = concat("  rank ", found->shard.rank, " of ", found->shard.world);
  if (!found->origin.by.empty()) text += concat(" by ", found->origin.by);
  if (!found->origin.half.empty()) text += concat(", half of it by ", found->origin.half);
  for (const std::string& other : found->origin.unlike) text += concat(", unlike ", other);
  return text + "\n";
}

std::string runs_text(const LocalRuns& runs) {
  std::string text = concat("  of ", runs.size, " runs here");
  if (!runs.size_variable.empty()) text += concat(" by ", runs.size_variable);
  if (runs.rank) text += concat(", number ", *runs.rank, " by ", runs.rank_variable);
  return text + "\n";
}

TEST(Ranks, AreByEnvironmentProgramAndGraph) {
  std::string all;
  for (const auto& [name, texts] : golden_cases("ranks", "language")) {
    all += concat("=== ", name, "\n", texts.at(0), "=== says\n");
    for (const std::string_view line : split(texts.at(0), '\n')) {
      if (line.empty()) continue;
      const Said said{std::string(line)};
      all += concat(line, "\n", shard_text(said), runs_text(local_runs(said.lookup())));
    }
  }
  expect_golden("language/ranks.txt", all);
  EXPECT_EQ(local_runs(nullptr).size, 1u);
}

}  // namespace
}  // namespace brigade
