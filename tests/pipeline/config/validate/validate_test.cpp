#include "pipeline/config/validate/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/config/validate/draft.h"
#include "tests/support/config/fake_types.h"
#include "tests/support/config/load_text.h"

namespace brigade {
namespace {

TEST(Validate, ListsAreCutForMessages) {
  EXPECT_EQ(name_list({"a", "b"}), "a and b");
  EXPECT_EQ(name_list({"a", "b", "c"}, 2), "a, b, ... (3 in all)");
}

TEST(ValidateOrder, ALongLineIsSorted) {
  std::string text = "stages:\n  show: {consumer: show, from: s200}\n";
  for (int i = 200; i > 0; --i)
    text += "  s" + std::to_string(i) + ": {transform: passthrough, from: s" +
            std::to_string(i - 1) + "}\n";
  const auto loaded = LoadText()(text + "  s0: {producer: synthetic}\n");
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  EXPECT_EQ(loaded.graph->stages.front().name, "s0");
  EXPECT_EQ(loaded.graph->stages.back().name, "show");
}

// A contract of an embedding program may throw.
TEST(ValidatePorts, AnExceptionOfAContractIsAMistakeOfTheGraph) {
  struct Nothing {};
  StageTypes types = fake_stage_types();
  types.add<fake::NoProducer>(Contract<Nothing>("bad", "Throws.")
                                  .producer()
                                  .outputs([](const Nothing&, const Ports&) -> Result<Ports> {
                                    throw std::runtime_error("not\ntoday");
                                  }));
  LoadText load;
  load.types = &types;
  const auto loaded = load("stages: {a: {producer: bad}, b: {consumer: show, from: a}}");
  EXPECT_FALSE(loaded.graph);
  EXPECT_THAT(loaded.messages(), testing::HasSubstr("stage \"a\": not today"));
}

}  // namespace
}  // namespace brigade
