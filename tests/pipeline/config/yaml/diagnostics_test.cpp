#include "pipeline/config/yaml/diagnostics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade {
namespace {

using testing::HasSubstr;

class DiagnosticsTest : public testing::Test {
 protected:
  int add(std::string text, bool setting = false) {
    return source_.add({setting ? "--set" : "g.yaml", std::move(text), "/", setting});
  }
  std::string render() const { return diagnostics_.render(source_); }

  SourceText source_;
  Diagnostics diagnostics_;
};

TEST_F(DiagnosticsTest, ShowsPlaceLineCaretAndHelp) {
  const int file = add("a: 1\n  key: value\n");
  diagnostics_.error({{file, 2, 8}, 5}, "no good", {"write this", "or that"});
  EXPECT_EQ(render(),
            "g.yaml:2:8: error: no good\n"
            "  key: value\n"
            "       ^~~~~\n"
            "  write this\n"
            "  or that\n");
}

TEST_F(DiagnosticsTest, CountsColumnsInCharactersNotBytes) {
  const int file = add("größe: x\n");
  diagnostics_.error({{file, 1, 10}, 1}, "no");
  EXPECT_EQ(render(), "g.yaml:1:8: error: no\ngröße: x\n       ^\n");
}

TEST_F(DiagnosticsTest, KeepsTabsSoThatTheCaretStandsRight) {
  const int file = add("a:\tb\n");
  diagnostics_.error({{file, 1, 4}, 1}, "no");
  EXPECT_THAT(render(), HasSubstr("\n  \t^\n"));
}

TEST_F(DiagnosticsTest, CutsLongLinesAroundTheCaret) {
  const int file = add(std::string(500, 'x') + "HERE" + std::string(500, 'y'));
  diagnostics_.error({{file, 1, 501}, 4}, "no");
  const std::string text = render();
  EXPECT_THAT(text, HasSubstr("xHEREy"));
  const std::size_t line = text.find("...x");
  EXPECT_LT(text.find('\n', line) - line, 110u);
  EXPECT_EQ(text.find("HERE") - line, text.find("^~~~") - text.find('\n', line) - 1);
}

TEST_F(DiagnosticsTest, SortsByPlaceAndCounts) {
  const int first = add("a\nb\n");
  const int second = source_.add({"h.yaml", "c\n", "/"});
  diagnostics_.error({{second, 1, 1}, 1}, "third");
  diagnostics_.error({{first, 2, 1}, 1}, "second");
  diagnostics_.error({{first, 1, 1}, 1}, "first");
  const std::string text = render();
  EXPECT_LT(text.find("first"), text.find("second"));
  EXPECT_LT(text.find("second"), text.find("third"));
  EXPECT_TRUE(text.ends_with("3 errors\n"));
}

TEST_F(DiagnosticsTest, SaysTheSameOnlyOnce) {
  const int file = add("a\n");
  diagnostics_.error({{file, 1, 1}, 1}, "no");
  diagnostics_.error({{file, 1, 1}, 1}, "no");
  EXPECT_EQ(diagnostics_.errors(), 1u);
}

TEST_F(DiagnosticsTest, WarningsAreNoErrors) {
  diagnostics_.warning({}, "careful");
  EXPECT_TRUE(diagnostics_.ok());
  EXPECT_EQ(render(), "warning: careful\n");
}

TEST_F(DiagnosticsTest, CapsTheirNumberAndCountsTheRest) {
  const int file = add("a\n");
  for (int i = 0; i < 1000; ++i) diagnostics_.error({{file, 1, i + 1}, 1}, "no");
  EXPECT_EQ(diagnostics_.all().size(), kDiagnosticsMax);
  EXPECT_EQ(diagnostics_.errors(), 1000u);
  EXPECT_THAT(render(), HasSubstr("... and 950 more\n1000 errors\n"));
}

TEST_F(DiagnosticsTest, ASilencedPlaceSaysNoMore) {
  const int file = add("a: ${b}\n");
  diagnostics_.error({{file, 1, 4}, 4}, "unknown variable");
  diagnostics_.silence({file, 1, 4});
  diagnostics_.error({{file, 1, 4}, 4}, "no number");
  diagnostics_.error({{file, 1, 1}, 1}, "another");
  EXPECT_EQ(diagnostics_.errors(), 2u);
}

TEST_F(DiagnosticsTest, SettingsAndWholeFilesHaveNoLineNumber) {
  const int setting = add("epochs=x", true);
  diagnostics_.error({{setting, 1, 8}, 1}, "no");
  diagnostics_.file_error("dir", "is a folder");
  EXPECT_THAT(render(), HasSubstr("dir: error: is a folder\n"));
  EXPECT_THAT(render(), HasSubstr("--set: error: no\nepochs=x\n       ^\n"));
}

// Marks of broken input must not lead outside the text.
TEST_F(DiagnosticsTest, MarksOutsideTheTextDoNoHarm) {
  const int file = add("ab\n");
  for (const int column : {-5, 0, 3, 99})
    for (const int length : {-1, 0, 1, 99}) diagnostics_.error({{file, 1, column}, length}, "no");
  diagnostics_.error({{file, 99, 1}, 1}, "no");
  EXPECT_THAT(render(), HasSubstr("no"));
}

}  // namespace
}  // namespace brigade
