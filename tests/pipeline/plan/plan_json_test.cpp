#include "pipeline/plan/plan_json.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include <nlohmann/json.hpp>

#include "pipeline/config/language/key_text.h"
#include "pipeline/plan/planner/planner.h"
#include "tests/support/golden.h"
#include "tests/support/graph_builder.h"
#include "tests/support/plan_limits.h"

namespace brigade {
namespace {

Plan fashion_mnist_plan() {
  GraphBuilder graph = fashion_mnist_graph();
  return plan_graph(graph.build(), small_machine()).plan;
}

std::string error_of(const std::string& text) {
  const Result<Plan> read = plan_from_json(text);
  return read.ok() ? "none" : read.error().message;
}

/// The text with one thing replaced, which must be there.
std::string replaced(const std::string& from, const std::string& to) {
  std::string text = plan_to_json(fashion_mnist_plan(), -1);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// Of each stage without the keys of the YAML that have their default: a golden file that a new key
/// leaves as it is.
std::string without_default_keys(const Plan& plan) {
  Plan plain = plan;
  StageKeys& keys = plain.stages[0];
  keys = {};
  const auto json_of = [](const Plan& one) {
    return nlohmann::ordered_json::parse(plan_to_json(one));
  };
  auto json = json_of(plan);
  const auto defaults = json_of(plain)["stages"][0];
  for (auto& stage : json["stages"])
    each_key(keys, [&](const KeySpec& key, auto&) {
      const std::string name = plan_field_name(key);
      EXPECT_TRUE(stage.contains(name)) << name;
      if (stage.value(name, defaults.at(name)) == defaults.at(name)) stage.erase(name);
    });
  return json.dump(2);
}

TEST(PlanJson, ShowsEveryField) {
  expect_golden("plan/fashion_mnist.json", without_default_keys(fashion_mnist_plan()) + "\n");
}

TEST(PlanJson, ReadsBackAnEqualPlan) {
  const Plan plan = fashion_mnist_plan();
  for (const int indent : {-1, 0, 2}) {
    const Result<Plan> read = plan_from_json(plan_to_json(plan, indent));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, plan);
  }
}

TEST(PlanJson, KeepsWhatIsHardToPrint) {
  Plan plan = fashion_mnist_plan();
  PlanStage& stage = plan.stages[1];
  plan.seed = std::numeric_limits<std::uint64_t>::max();
  stage.stall.after_ns = std::numeric_limits<std::int64_t>::min();
  stage.on_error.percent_max = 0.1;
  stage.params = {
      {"list", {ParamValue::Kind::list, "", {ParamValue::scalar("a\"b\n")}, {}}},
      {"none", {}},
      {"map", {ParamValue::Kind::map, "", {}, {{"k", ParamValue::scalar("1")}, {"k", {}}}}},
      {"path", ParamValue::scalar("caf\xe9/\xff\x01\x80")},
      {"utf8", ParamValue::scalar("caf\xc3\xa9")}};
  stage.env = {{"OMP_NUM_THREADS", "1"}};
  stage.cpus = {0, 3};
  stage.restart = {RestartSpec::Policy::always, 1, 2, 3, true};
  plan.warnings = {"careful"};
  const Result<Plan> read = plan_from_json(plan_to_json(plan));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, plan);
}

TEST(PlanJson, KeepsRaggedTensors) {
  Plan plan = fashion_mnist_plan();
  plan.stages[0].ring.tensors[1].type.shape = {up_to(1)};
  const Result<Plan> read = plan_from_json(plan_to_json(plan));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, plan);
}

/// A point that differs from the beginning in everything.
ResumePoint far_on(const Plan& plan) {
  ResumePoint resume{"17-4", "a.type = b\xff", {}, {}, "0123", "libpng 1.6"};
  resume.index_spaces.assign(plan.index_spaces.size(), {128, 2, 1000});
  for (const PlanStage& stage : plan.stages) {
    resume.stages.push_back({{}, 42, true, 3, 4, {5, 6}, {{0, 1, 7}}});
    resume.stages.back().queues.assign(stage.queues.size(), {130, 2});
  }
  return resume;
}

TEST(RunJson, ReadsBackBoth) {
  const Plan plan = fashion_mnist_plan();
  for (const ResumePoint& resume : {ResumePoint{}, far_on(plan)}) {
    const auto read = run_from_json(run_to_json(plan, resume));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->plan, plan);
    EXPECT_EQ(read->resume, resume);
  }
}

TEST(RunJson, RefusesAPointOfAnotherPlan) {
  const Plan plan = fashion_mnist_plan();
  for (const auto& spoil : std::vector<std::function<void(ResumePoint&)>>{
           [](ResumePoint& resume) { resume.stages.pop_back(); },
           [](ResumePoint& resume) { resume.index_spaces.emplace_back(); },
           [](ResumePoint& resume) { resume.stages[1].queues.emplace_back(); },
           [](ResumePoint& resume) { resume.stages[1].skipped[0].queue = 1; },
           [](ResumePoint& resume) { resume.stages[1].skipped[0].queue = -1; }}) {
    ResumePoint resume = far_on(plan);
    spoil(resume);
    EXPECT_FALSE(run_from_json(run_to_json(plan, resume)).ok());
  }
}

TEST(PlanJson, RefusesWhatIsNoJson) {
  for (const char* text : {"", "{", "nonsense", "[1, 2", "\xff\xfe"})
    EXPECT_EQ(error_of(text), "the plan is not JSON");
}

TEST(PlanJson, NamesTheFieldThatIsMissing) {
  EXPECT_EQ(error_of("{}"), "the plan: name: missing");
  EXPECT_EQ(error_of(replaced("\"window\"", "\"windows\"")),
            "the plan: stages[0].queues[0].window: missing");
}

TEST(PlanJson, NamesTheFieldOfTheWrongType) {
  EXPECT_EQ(error_of("[]"), "the plan: expected an object, found array");
  EXPECT_EQ(error_of(replaced("\"threads\":1", "\"threads\":\"one\"")),
            "the plan: stages[0].threads: expected a whole number, found \"one\"");
  EXPECT_EQ(error_of(replaced("\"task\":64", "\"task\":-64")),
            "the plan: stages[0].queues[0].task: expected a whole number of at least 0, found -64");
  EXPECT_EQ(error_of(replaced("\"threads\":1", "\"threads\":4294967297")),
            "the plan: stages[0].threads: expected a whole number of 32 bits, found 4294967297");
  EXPECT_EQ(error_of(replaced("\"kind\":\"producer\"", "\"kind\":\"maker\"")),
            "the plan: stages[0].kind: expected one of producer, transform, consumer, found "
            "\"maker\"");
  EXPECT_EQ(error_of(replaced("\"dtype\":\"u8\"", "\"dtype\":8")),
            "the plan: stages[0].ring.tensors[0].type.dtype: expected a dtype, found 8");
  EXPECT_EQ(error_of(replaced("\"indexed\":true", "\"indexed\":1")),
            "the plan: stages[0].indexed: expected true or false, found 1");
  EXPECT_EQ(error_of(replaced("\"readers\":[[1,0]]", "\"readers\":[[1]]")),
            "the plan: stages[0].readers[0]: expected a list with two items, found array");
}

TEST(PlanJson, RefusesAPlanThatCannotBeRun) {
  EXPECT_EQ(error_of(replaced("\"first_replica\":1", "\"first_replica\":2")),
            "the plan: stage \"augment\": its replicas are misnumbered");
}

TEST(PlanJson, RefusesParametersWithoutEnd) {
  const std::string deep =
      "\"params\":[[\"x\"," + std::string(100000, '[') + std::string(100000, ']') + "]]";
  EXPECT_EQ(error_of(replaced("\"params\":[]", deep)), "the plan is nested deeper than 100 levels");
}

}  // namespace
}  // namespace brigade
