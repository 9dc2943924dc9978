#include "stages/api/module.h"

#include <gtest/gtest.h>

#include <memory>

namespace brigade {
namespace {

class Mirror : public Stage {
  Result<Next> process(const Inputs&, Outputs&) override { return Next::emit; }
};

class Numbers : public Producer {
  Result<std::uint64_t> size() override { return std::uint64_t{3}; }
  Result<Next> read(std::uint64_t, Outputs&) override { return Next::emit; }
};

TEST(ModuleTest, BodiesSayWhichInterfaceTheyHave) {
  const ModuleBody flip = stage_body<Mirror>("flip");
  const ModuleBody numbers = stage_body<Numbers>("numbers");
  EXPECT_EQ(flip.make_producer, nullptr);
  EXPECT_EQ(numbers.make_stage, nullptr);
  EXPECT_NE(std::unique_ptr<Stage>(flip.make_stage()), nullptr);
  EXPECT_NE(std::unique_ptr<Producer>(numbers.make_producer()), nullptr);
}

}  // namespace
}  // namespace brigade

BRIGADE_MODULE(brigade::stage_body<brigade::Mirror>("flip"),
               brigade::stage_body<brigade::Numbers>("numbers"))

namespace brigade {
namespace {

TEST(ModuleTest, TheEntryPointListsItsBodies) {
  const Module* module = brigade_module_v1();
  EXPECT_EQ(module->layout_hash, module_layout_hash());
  ASSERT_EQ(module->count, 2u);
  EXPECT_STREQ(module->bodies[1].type, "numbers");
}

}  // namespace
}  // namespace brigade
