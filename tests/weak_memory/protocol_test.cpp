// claim, finish, advance, wait and wake as they stand in transports/, under C++20's memory model:
// every order of steps and every old value that a load may still read, within bounds. See
// docs/MODEL_CHECKING.md.

#include "tests/weak_memory/ends_program.h"
#include "tests/weak_memory/flat_map_program.h"
#include "tests/weak_memory/line_checks.h"

namespace brigade::weak_memory {
namespace {

constexpr std::uint64_t kStatesMax = 8'000'000;
constexpr std::uint64_t kStatesMaxSlowBuild = 100'000;

class EveryOldValue : public testing::TestWithParam<LineCase> {};

TEST_P(EveryOldValue, HoldsEveryProperty) {
  if (!kFastBuild && GetParam().states_min > kStatesMaxSlowBuild) GTEST_SKIP() << "slow build";
  expect_good(GetParam(), kStatesMax);
}

INSTANTIATE_TEST_SUITE_P(Lines, EveryOldValue, testing::ValuesIn(small_lines()));

INSTANTIATE_TEST_SUITE_P(Supervised, EveryOldValue, testing::ValuesIn(supervised_lines()));

class Mistake : public testing::TestWithParam<LineCase> {};

TEST_P(Mistake, IsNoticed) {
  const Report report = explore(GetParam(), {}, kStatesMax, Trace::kAsFound);
  std::printf("%-28s %s\n", GetParam().name, report.violation.c_str());
  EXPECT_NE(report.violation, "");
  EXPECT_EQ(report.violation.find("limit"), std::string::npos) << report.violation;
}

INSTANTIATE_TEST_SUITE_P(Supervised, Mistake, testing::ValuesIn(mistaken_lines()));

std::string first_violation(const Weaker& weaker, const std::vector<LineCase>& lines) {
  for (const LineCase& line : lines) {
    const Report report = explore(line, weaker, kStatesMax, Trace::kAsFound);
    if (!report.violation.empty()) return report.violation;
  }
  return "";
}

void look_for(const std::vector<WeakerCase>& orders, const std::vector<LineCase>& lines) {
  for (const WeakerCase& weaker : orders) {
    const std::string violation = first_violation(weaker.weaker, lines);
    const char* name = name_of(weaker.weaker.access);
    std::printf("%-14s %d  %s\n", name, static_cast<int>(weaker.weaker.order), violation.c_str());
    EXPECT_EQ(violation.find("limit"), std::string::npos) << name << ": " << violation;
    EXPECT_EQ(!violation.empty(), weaker.noticed)
        << name << ", order " << static_cast<int>(weaker.weaker.order) << ": " << violation;
  }
}

// Each order that must not be weaker is noticed when it is; of the others this says that the lines
// looked at would do with less.
TEST(WeakerOrder, IsNoticedWhereTheOrderIsNeeded) {
  if (!kFastBuild) GTEST_SKIP() << "slow build";
  for (const WakeOrder order : {WakeOrder::by_sleeper, WakeOrder::by_finisher})
    look_for(weaker_orders(order), probe_lines(order));
}

TEST(WeakerOrder, OfTheSupervisorIsNoticedWhereTheOrderIsNeeded) {
  if (!kFastBuild) GTEST_SKIP() << "slow build";
  look_for(weaker_orders_of_the_supervisor(), supervised_probe_lines());
}

TEST(WeakerOrder, OfAProgramThatTakesWhatIsDoneIsNoticedWhereTheOrderIsNeeded) {
  if (!kFastBuild) GTEST_SKIP() << "slow build";
  look_for(weaker_orders_of_a_program(), any_order_lines());
}

// --- the journal of a flat_map stage

Report journal_report(const std::vector<int>& outputs, const RepairRules& rules,
                      const Weaker& weaker,
                      FlatMapProgram::Mistake mistake = FlatMapProgram::Mistake::none) {
  FlatMapProgram program(outputs, rules, mistake);
  Machine machine(program, {}, weaker);
  return machine.explore(kStatesMax);
}

TEST(Journal, TellsASuccessorWhatIsThereWhereverAReplicaDies) {
  for (const std::vector<int>& outputs : {std::vector{2, 1}, {0, 2}, {1, 0, 1}}) {
    const Report report = journal_report(outputs, {}, {});
    print("journal", report);
    EXPECT_EQ(report.violation, "");
    EXPECT_GE(report.states, 200u);
  }
}

TEST(Journal, ThatIsNotSettledIsNoticed) {
  RepairRules rules;
  rules.settle = false;
  EXPECT_NE(journal_report({2, 1}, rules, {}).violation, "");
}

TEST(Journal, ThatIsKeptInTheWrongOrderIsNoticed) {
  using Wrong = FlatMapProgram::Mistake;
  for (const Wrong wrong :
       {Wrong::in_place, Wrong::noted_late, Wrong::consumed_first, Wrong::given_again}) {
    const std::string violation = journal_report({2, 1}, {}, {}, wrong).violation;
    std::printf("wrong %d: %s\n", static_cast<int>(wrong), violation.c_str());
    EXPECT_NE(violation, "") << static_cast<int>(wrong);
    EXPECT_EQ(violation.find("limit"), std::string::npos) << violation;
  }
}

TEST(Journal, WhoseEntryMayComeAfterItsSequenceIsNoticed) {
  const Weaker relaxed = {Access::kJournalCommit, std::memory_order_relaxed};
  EXPECT_NE(journal_report({2, 1}, {}, relaxed).violation, "");
}

// --- ends of epochs, recorded by a stream, and the turns of who reads it

Report ends_report(bool late, WakeOrder order, const Bounds& bounds, const Weaker& weaker) {
  EndsProgram program(late, order);
  Machine machine(program, bounds, weaker);
  return machine.explore(kStatesMax);
}

TEST(Ends, AreKnownBeforeAnySampleBeyondThem) {
  for (const WakeOrder order : {WakeOrder::by_sleeper, WakeOrder::by_finisher}) {
    const Report report = ends_report(false, order, {3, 2}, {});
    print(order == WakeOrder::by_sleeper ? "ends" : "ends_finishers_pay", report);
    EXPECT_EQ(report.violation, "");
    EXPECT_GE(report.endings, 1u);
  }
}

TEST(Ends, ThatAreRecordedLateAreNoticed) {
  for (const WakeOrder order : {WakeOrder::by_sleeper, WakeOrder::by_finisher})
    EXPECT_NE(ends_report(true, order, {2, 1}, {}).violation, "");
}

}  // namespace
}  // namespace brigade::weak_memory
