#include "pipeline/config/language/subset_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/config/reads_yaml.h"

namespace brigade {
namespace {

using testing::HasSubstr;

class SubsetParser : public ReadsYaml {
 protected:
  std::optional<Split> split(const std::string& text) {
    const YamlEntry& given = read("split: " + text + "\n").entries.at(0);
    Split out;
    if (!parse_split(given, *find_key(KeyScope::stage, "split"), read_, out)) return std::nullopt;
    return out;
  }

  SpecReader read_{"", diagnostics_};
};

TEST_F(SubsetParser, ALimitIsSamplesOrAShare) {
  EXPECT_EQ(parse_limit("1000")->samples, 1000u);
  EXPECT_EQ(parse_limit("1")->samples, 1u);
  EXPECT_THAT(parse_limit("1.0").error().message, HasSubstr("write 100% if that is meant"));
  for (const char* text : {"10%", "0.1", "10 %", "0.10"}) {
    EXPECT_EQ(parse_limit(text)->share, kWholeShare / 10) << text;
    EXPECT_EQ(limit_text(*parse_limit(text)), "10%");
  }
  EXPECT_EQ(limit_text(*parse_limit("0.0125%")), "0.0125%");
  EXPECT_EQ(limit_text(*parse_limit("100%")), "100%");
  EXPECT_EQ(limit_text(*parse_limit("12")), "12");
  for (const char* text : {"0", "-1", "0%", "0.0", "101%", "1.0", "1.00", "1.5", "many", "",
                           "10 samples", "1e3", "0.00000000001", "99999999999999999999"}) {
    ASSERT_FALSE(parse_limit(text).ok()) << text;
    EXPECT_THAT(parse_limit(text).error().message, HasSubstr("or a share such as 10% or 0.1"));
  }
}

TEST_F(SubsetParser, ASplitHasSharesByName) {
  const Split found = *split("{val: 10%, train: 0.9, seed: 3}");
  EXPECT_EQ(found, (Split{{{"train", 900'000'000}, {"val", 100'000'000}}, 3}));
  EXPECT_EQ(*split("{train: 0.9, val: 0.1, seed: 3}"), found) << "in any order";
  EXPECT_EQ(split("{train: 0.5}")->seed, 0u);
  EXPECT_TRUE(diagnostics_.ok());
}

TEST_F(SubsetParser, WhatIsNoSplitIsRefused) {
  for (const char* text :
       {"0.9", "[0.9, 0.1]", "{}", "{seed: 1}", "{train: 0.9, val: 0.2}", "{train: 0}",
        "{train: 120%}", "{train: most}", "{train: {share: 0.5}}", "{train: 0.5, seed: x}",
        "{9th: 0.5}", "{train: 5}", "{train: 1.0}", "{train: 1}"}) {
    const std::size_t before = diagnostics_.errors();
    EXPECT_FALSE(split(text)) << text;
    EXPECT_EQ(diagnostics_.errors(), before + 1) << text;
  }
}

}  // namespace
}  // namespace brigade
