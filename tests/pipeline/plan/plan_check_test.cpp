#include "pipeline/plan/plan_check.h"

#include <gtest/gtest.h>

#include <functional>

#include "pipeline/plan/planner/planner.h"
#include "tests/support/graph_builder.h"
#include "tests/support/plan_limits.h"

namespace brigade {
namespace {

Plan good_plan() {
  GraphBuilder graph = fashion_mnist_graph();
  return plan_graph(graph.build(), small_machine()).plan;
}

TEST(CheckPlan, AcceptsWhatThePlannerMade) { EXPECT_TRUE(check_plan(good_plan()).ok()); }

TEST(CheckPlan, NamesTheStageThatIsWrong) {
  Plan plan = good_plan();
  plan.stages[1].queues[0].task = 7;
  const Result<void> checked = check_plan(plan);
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().message,
            "stage \"augment\": its task does not divide the multiple of its index space");
}

struct Damage {
  const char* name;
  std::function<void(Plan&)> apply;
};

class CheckPlanRefuses : public testing::TestWithParam<Damage> {};

TEST_P(CheckPlanRefuses, ADamagedPlan) {
  Plan plan = good_plan();
  GetParam().apply(plan);
  EXPECT_FALSE(check_plan(plan).ok());
}

const Damage kDamages[] = {
    {"name_with_a_control_character", [](Plan& plan) { plan.stages[1].name = "\x1b[2J"; }},
    {"name_of_a_megabyte", [](Plan& plan) { plan.stages[1].name.assign(1 << 20, 'a'); }},
    {"zero_task", [](Plan& p) { p.stages[0].queues[0].task = 0; }},
    {"numbers_a_foreign_index_space", [](Plan& p) { p.index_spaces[0].sources = {2}; }},
    {"free_without_a_queue", [](Plan& p) { p.stages[1].flat_map_outputs = 1; }},
    {"free_consumer", [](Plan& p) { p.stages[3].flat_map_outputs = 1; }},
    {"no_queues", [](Plan& p) { p.stages[3].queues.clear(); }},
    {"no_replica", [](Plan& p) { p.stages[0].replicas = 0; }},
    {"no_thread", [](Plan& p) { p.stages[0].threads = 0; }},
    {"too_many_replicas", [](Plan& p) { p.stages[3].replicas = 253, p.replicas = 257; }},
    {"misnumbered", [](Plan& p) { p.stages[2].first_replica = 0; }},
    {"wrong_sum_of_replicas", [](Plan& p) { p.replicas = 4; }},
    {"queue_of_no_index_space", [](Plan& p) { p.stages[0].queues[0].index_space = 2; }},
    {"queue_of_negative_index_space", [](Plan& p) { p.stages[0].queues[0].index_space = -1; }},
    {"input_is_later", [](Plan& p) { p.stages[1].queues[0].inputs[0].stage = 1; }},
    {"input_is_negative", [](Plan& p) { p.stages[1].queues[0].inputs[0].stage = -1; }},
    {"input_of_other_index_space", [](Plan& p) { p.stages[3].queues[0].inputs[0].stage = 2; }},
    {"input_lacks_tensor", [](Plan& p) { p.stages[1].queues[0].inputs[0].tensors = {"z"}; }},
    {"transform_without_input", [](Plan& p) { p.stages[1].queues[0].inputs.clear(); }},
    {"reader_is_earlier", [](Plan& p) { p.stages[1].readers[0].first = 0; }},
    {"reader_is_nobody", [](Plan& p) { p.stages[1].readers[0].first = 4; }},
    {"reader_of_no_queue", [](Plan& p) { p.stages[1].readers[0].second = 2; }},
    {"no_slots", [](Plan& p) { p.stages[0].ring.slots = 0; }},
    {"window_not_of_ring", [](Plan& p) { p.stages[0].queues[0].window += 1; }},
    {"window_wider_than_input", [](Plan& p) { p.stages[3].queues[0].window += 1; }},
    {"terms_do_not_add_up", [](Plan& p) { p.stages[0].ring.terms[0].slots += 1; }},
    {"arrays_overlap", [](Plan& p) { p.stages[0].ring.tensors[1].offset -= 4096; }},
    {"array_in_headers", [](Plan& p) { p.stages[0].ring.tensors[0].offset = 0; }},
    {"array_off_page", [](Plan& p) { p.stages[0].ring.tensors[1].offset += 8; }},
    {"array_past_end", [](Plan& p) { p.stages[0].ring.bytes -= 4096; }},
    {"huge_pages_in_part", [](Plan& p) { p.stages[0].ring.huge = true; }},
    {"huge_pages_that_come_and_go",
     [](Plan& p) {
       PlanRing& ring = p.stages[0].ring;
       ring.huge = ring.sparse = true;
       ring.bytes = ring.expected_bytes = std::uint64_t{64} << 20;
     }},
    {"slots_overlap", [](Plan& p) { p.stages[0].ring.tensors[0].slot_stride -= 1; }},
    {"dense_with_gap", [](Plan& p) { p.stages[0].ring.tensors[1].slot_stride += 1; }},
    {"slot_bytes_not_of_type", [](Plan& p) { p.stages[0].ring.tensors[0].type.dtype = f64; }},
    {"negative_size", [](Plan& p) { p.stages[0].ring.tensors[0].type.shape[0].size = -1; }},
    {"too_many_dimensions",
     [](Plan& p) { p.stages[0].ring.tensors[1].type.shape.assign(8, Dim(1)); }},
    {"passed_from_nowhere", [](Plan& p) { p.stages[1].passes[0].input = 1; }},
    {"passed_to_nowhere", [](Plan& p) { p.stages[1].passes[0].name = "z"; }},
    {"consumer_with_ring", [](Plan& p) { p.stages[3].has_ring = true; }},
    {"producer_without_ring", [](Plan& p) { p.stages[0].has_ring = false; }},
    {"multiple_of_nothing", [](Plan& p) { p.index_spaces[0].multiple = 0; }},
    {"multiple_above_limit", [](Plan& p) { p.index_spaces[0].multiple = 256u << 20; }},
    {"cache_of_a_producer", [](Plan& p) { p.stages[0].cache = p.stages[0].ring; }},
    {"cache_of_one_queue", [](Plan& p) { p.stages[1].cache = p.stages[1].ring; }},
    {"cache_without_slots", [](Plan& p) { p.stages[1].cache.bytes = 4096; }},
    {"fan_out_of_nothing", [](Plan& p) { p.stages[0].fan_out = 0; }},
    {"fan_out_of_no_ring", [](Plan& p) { p.stages[3].fan_out = 2; }},
    {"fan_out_not_of_ring", [](Plan& p) { p.stages[0].fan_out = 2; }},
    {"slots_of_no_index_space", [](Plan& p) { p.stages[0].ring_index_space = 9; }},
    {"slots_of_another_index_space", [](Plan& p) { p.stages[0].ring_index_space = 1; }},
    {"derived_from_nothing", [](Plan& p) { p.index_spaces[1].above = 7; }},
    {"derived_from_itself", [](Plan& p) { p.index_spaces[1].above = 1; }},
    {"derived_by_nothing", [](Plan& p) { p.index_spaces[1].above = 0; }},
    {"multiple_not_of_index_space_above",
     [](Plan& p) {
       p.index_spaces[1].above = 0;
       p.index_spaces[1].fan_out = 2;
     }},
    {"index_space_without_source", [](Plan& p) { p.index_spaces[0].sources.clear(); }},
    {"index_space_of_a_transform", [](Plan& p) { p.index_spaces[0].sources = {1}; }},
    {"index_space_of_nobody", [](Plan& p) { p.index_spaces[0].sources = {-1}; }},
};

INSTANTIATE_TEST_SUITE_P(Damages, CheckPlanRefuses, testing::ValuesIn(kDamages),
                         [](const auto& damage) { return damage.param.name; });

}  // namespace
}  // namespace brigade
