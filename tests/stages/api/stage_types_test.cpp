#include "stages/api/stage_types.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

struct NoParams {};

class Flip : public Stage {
  Result<Next> process(const Inputs&, Outputs&) override { return Next::emit; }
};

class Numbers : public Producer {
  Result<std::uint64_t> size() override { return std::uint64_t{3}; }
  Result<Next> read(std::uint64_t, Outputs&) override { return Next::emit; }
};

TEST(StageTypesTest, MakesTheBodiesItLists) {
  StageTypes types;
  types.add<Flip>(Contract<NoParams>("flip", "Flips."))
      .add<Numbers>(Contract<NoParams>("numbers", "Counts.").producer())
      .add_from_module(Contract<NoParams>("train", "Trains.").consumer(), "torch");
  ASSERT_EQ(types.all().size(), 3u);

  const StageType* flip = types.find("flip");
  ASSERT_NE(flip, nullptr);
  EXPECT_FALSE(flip->indexed);
  EXPECT_NE(flip->make_stage(), nullptr);

  const StageType* numbers = types.find("numbers");
  EXPECT_TRUE(numbers->indexed);
  EXPECT_EQ(*numbers->make_producer()->size(), 3u);
  EXPECT_EQ(numbers->make_producer()->describe(2), "sample 2");

  EXPECT_EQ(types.find("train")->module, "torch");
  EXPECT_FALSE(types.find("train")->make_stage);
  EXPECT_EQ(types.find("flop"), nullptr);
}

}  // namespace
}  // namespace brigade
