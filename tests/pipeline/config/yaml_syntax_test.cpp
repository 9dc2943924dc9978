#include "pipeline/config/yaml_syntax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/config/yaml_reader.h"

namespace brigade {
namespace {

using testing::HasSubstr;

std::string explain(std::string text) {
  SourceText source;
  Diagnostics diagnostics;
  const int file = source.add({"g.yaml", std::move(text), "/"});
  const auto root = read_yaml(source, file, diagnostics);
  EXPECT_FALSE(root) << "this is YAML";
  EXPECT_EQ(diagnostics.errors(), 1u);
  return diagnostics.render(source);
}

TEST(YamlSyntax, FindsTheVariableInBracesEvenAfterOtherBraces) {
  EXPECT_THAT(explain("a: {b: {c: 1}, d: ${x}/y}\n"), HasSubstr("write \"${x}/y\""));
  EXPECT_THAT(explain("a: [1, ${x}]\n"), HasSubstr("write \"${x}\""));
  EXPECT_THAT(explain("a: {b: 1,\n    c: ${x}}\n"), HasSubstr("g.yaml:2:8"));
}

TEST(YamlSyntax, ATabInFrontOfTheLineAboveCounts) {
  EXPECT_THAT(explain("a:\n\tb: 1\n"), HasSubstr("a tab in the indentation"));
}

TEST(YamlSyntax, NamesTheLevelsThatThereAre) {
  EXPECT_THAT(explain("a:\n    b:\n        c: 1\n      d: 2\n"), HasSubstr("have 4 or 8"));
}

TEST(YamlSyntax, NamesTheLineThatHasItsValueAlready) {
  EXPECT_THAT(explain("a:\n  b: 1\n\n  # remark\n    c: 2\n"), HasSubstr("deeper than line 2"));
}

TEST(YamlSyntax, ShowsWhereASpaceIsMissing) {
  EXPECT_THAT(explain("a: 1\nb:2\nc: 3\n"), HasSubstr("write `b: 2`"));
}

TEST(YamlSyntax, QuotesHideWhatIsInThem) {
  EXPECT_THAT(explain("a: {b: \"${x}\", c: 1\nd: 2\n"), testing::Not(HasSubstr("needs quotes")));
}

TEST(YamlSyntax, AnUnknownReasonIsPassedOn) {
  SourceText source;
  Diagnostics diagnostics;
  const int file = source.add({"g.yaml", "a: 1\n", "/"});
  explain_syntax_error(source, {file, 1, 1}, "the moon is wrong", diagnostics);
  EXPECT_THAT(diagnostics.render(source), HasSubstr("not YAML: the moon is wrong"));
}

TEST(YamlSyntax, MarksOutsideTheTextDoNoHarm) {
  SourceText source;
  Diagnostics diagnostics;
  const int file = source.add({"g.yaml", "a: {\n", "/"});
  for (const int line : {-1, 0, 2, 99})
    for (const int column : {-1, 0, 7, 999})
      explain_syntax_error(source, {file, line, column}, "end of map flow not found", diagnostics);
  EXPECT_FALSE(diagnostics.ok());
}

}  // namespace
}  // namespace brigade
