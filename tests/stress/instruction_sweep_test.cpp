// A worker killed after every machine instruction of claim, wait, work, finish (with advance and
// wake) and of the journal: then the repair, its successor, and the run to the end. Every slot
// exactly once and whole, none in two hands, exact audit, watermarks at their ends, no waiter bit
// left, nobody asleep for ever. The short form is part of every test run, the full one of `./dev
// chaos`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "tests/stress/instruction_sweep.h"
#include "tests/stress/sweep_effort.h"

namespace brigade::stress {
namespace {

const std::vector<SweptSpec>& specs() {
  using support::StageSpec;
  static constexpr auto kSleepers = WakeOrder::by_sleeper, kFinishers = WakeOrder::by_finisher;
  static const StageSpec source = {1, 1, 2, {}, true};
  static const StageSpec slot_reader = {1, 1, 0, {0}, true}, two_readers = {2, 1, 0, {0}};
  static const StageSpec second = {2, 1, 2, {0}}, reader_of_second = {1, 1, 0, {1}, true};
  static const ByStage<StageSpec> in_order = {source, slot_reader};
  static const ByStage<StageSpec> two_to_two = {{2, 1, 3, {}}, two_readers};
  static const ByStage<StageSpec> joined = {source, source, two_readers};
  static const ByStage<StageSpec> merged = {
      source, source, {1, 1, 4, {}, true}, {1, 2, 0, {2}, true}};
  static const std::vector<SweptSpec> all = {
      {"one_to_one_in_order", in_order, 6},
      {"one_to_one_finishers_pay", in_order, 6, 0, kFinishers},
      {"two_to_two", two_to_two, 8},
      {"two_to_two_finishers_pay", two_to_two, 8, 0, kFinishers},
      {"one_two_one", {source, second, reader_of_second}, 6},
      {"slots_to_batches", {{2, 1, 4, {}}, {1, 2, 0, {0}, true}}, 8},
      {"batches_to_slots", {{2, 2, 4, {}}, two_readers}, 8},
      {"broadcast", {source, two_readers, slot_reader}, 6},
      {"zip", {source, {2, 1, 2, {}}, {1, 1, 0, {0, 1}}}, 6},
      {"fixed_turns", {{1, 1, 4, {}, true}, {2, 1, 0, {0}, false, true}}, 8},
      {"two_slots_for_each_sample",
       {source, {2, 1, 6, {0}, false, false, 2}, {1, 3, 0, {1}, true}},
       6},
      {"repack", {source, source, {1, 2, 0, {1}, true}}, 4, 1},
      {"merge", merged, 3, 2},
      {"whichever_is_there", joined, 4, 0, kFinishers, Interleave::any},
      {"turns_of_epochs", joined, 4, 0, kSleepers, Interleave::epochs},
      {"cache", {source, second, reader_of_second}, 4, 0, kFinishers, Interleave::cache},
      {"stream", {{1, 2, 4, {}, true}, {1, 4, 0, {0}, true}}, 0, 0, kFinishers, {}, {3, 1}},
      {"shared_stream", {{2, 1, 4, {}}, {1, 2, 0, {0}, true}}, 0, 0, kFinishers, {}, {2, 1}}};
  return all;
}

const SweptSpec& spec_named(const std::string& name) {
  for (const SweptSpec& spec : specs()) {
    if (spec.name == name) return spec;
  }
  BRIGADE_CHECK(false, name);
  return specs()[0];
}

/// The stages whose replica 0 is the victim; of a merge, a join or a stream that one.
std::vector<StageNumber> victims(const SweptSpec& spec) {
  if (spec.merged > 0) return {StageNumber(spec.merged)};
  if (spec.join) return {spec.joined_stage()};
  if (!spec.streamed.empty()) return {0};
  std::vector<StageNumber> stages;
  for (const StageNumber s : spec.stages.numbers()) stages.push_back(s);
  return stages;
}

/// Where the line and the victim's neighbours are: a different mixture at each position.
Sweep sweep_at(const SweptSpec& spec, StageNumber victim, int position) {
  constexpr int kMovesBetweenPositions = 7;
  constexpr int kPaces[] = {0, 37, 0, 101, 11, 61, 0, 23};
  Sweep sweep;
  sweep.spec = &spec;
  sweep.victim_stage = victim;
  sweep.position = position * kMovesBetweenPositions;
  sweep.pace = kPaces[position % std::size(kPaces)];
  return sweep;
}

template <class Param>
class WithSteps : public testing::TestWithParam<Param> {
 protected:
  void SetUp() override {
    if (!can_step()) GTEST_SKIP() << "a process may not be stepped here";
  }
};

class InstructionSweep : public WithSteps<SweptSpec> {};

TEST_P(InstructionSweep, NothingIsLostAfterWhicheverInstructionAWorkerIsKilled) {
  SweepResult all;
  for (const StageNumber victim : victims(GetParam())) {
    for (int position = 0; position < kSweepEffort.positions; ++position) {
      Sweep sweep = sweep_at(GetParam(), victim, position);
      sweep.tasks = kSweepEffort.tasks;
      sweep.real_kills = kSweepEffort.real_kills;
      sweep.also_late = true;
      // Of `assign: fixed` nobody else may do what the dead left.
      sweep.also_without_restart = kSweepEffort.without_restart && !GetParam().stages[victim].fixed;
      all.add(run_sweep(sweep));
      ASSERT_EQ(all.failure, "") << "stage " << victim.value() << ", position " << position;
    }
  }
  EXPECT_GT(all.deaths, 100u);
  std::cout << "  " << all.figures() << "\n";
}

INSTANTIATE_TEST_SUITE_P(Lines, InstructionSweep, testing::ValuesIn(specs()),
                         [](const auto& spec) { return spec.param.name; });

// --- what must be noticed ------------------------------------------------------------------------

/// Something after which a sweep must find an instruction that does harm.
struct Omission {
  const char* name;
  const char* line;
  void (*make)(Aftermath&);
  bool late = false;

  friend void PrintTo(const Omission& omission, std::ostream* out) { *out << omission.name; }
};

class NegativeControls : public WithSteps<Omission> {};

TEST_P(NegativeControls, AreCaughtAtSomeInstruction) {
  SweepResult all;
  for (const StageNumber victim : victims(spec_named(GetParam().line))) {
    for (int position = 0; position < 8 && all.failures == 0; ++position) {
      Sweep sweep = sweep_at(spec_named(GetParam().line), victim, position);
      sweep.tasks = 100;
      sweep.also_late = GetParam().late;
      GetParam().make(sweep.aftermath);
      all.add(run_sweep(sweep));
    }
  }
  EXPECT_GT(all.failures, 0u) << all.figures();
  std::cout << "  " << all.failure << "\n";
}

const Omission kOmissions[] = {
    {"settle", "one_to_one_in_order", [](Aftermath& a) { a.rules.settle = false; }},
    {"settle_with_task_words", "two_to_two", [](Aftermath& a) { a.rules.settle = false; }},
    {"journal", "repack", [](Aftermath& a) { a.rules.settle = false; }},
    {"reopen", "two_to_two", [](Aftermath& a) { a.rules.reopen = false; }},
    {"advance", "two_to_two", [](Aftermath& a) { a.rules.advance = false; }},
    {"clear", "two_to_two",
     [](Aftermath& a) {
       a.rules.clear = false;
       a.restart = Restart::never;
     }},
    {"count", "two_to_two",
     [](Aftermath& a) {
       a.rules.count = false;
       a.restart = Restart::never;
     },
     true},
    {"ring", "two_to_two", [](Aftermath& a) { a.rules.ring = false; }, true},
    {"ring_in_order", "one_to_one_in_order", [](Aftermath& a) { a.rules.ring = false; }},
    {"reopen_in_a_merge", "whichever_is_there", [](Aftermath& a) { a.rules.reopen = false; }},
    {"reopen_in_turns", "turns_of_epochs", [](Aftermath& a) { a.rules.reopen = false; }},
    {"settle_in_a_cache", "cache", [](Aftermath& a) { a.rules.settle = false; }},
    {"settle_in_a_shared_stream", "shared_stream", [](Aftermath& a) { a.rules.settle = false; }},
    {"restart_before_repair", "two_to_two",
     [](Aftermath& a) { a.restart = Restart::before_repair; }}};

class StreamNegativeControls : public NegativeControls {};

// The mistake is in the stream, in the order of two steps that a death can part.
TEST_P(StreamNegativeControls, AreCaughtWhereADeathPartsTheirSteps) {
  SweptSpec spec = spec_named(GetParam().line);
  spec.mistake = spec.name == "stream" ? StreamMistake::padding_before_end
                                       : StreamMistake::acknowledged_in_work;
  Sweep sweep = sweep_at(spec, 0, 0);
  sweep.also_late = true;
  const SweepResult result = run_sweep(sweep);
  EXPECT_THAT(result.failure, testing::StartsWith("after instruction")) << result.figures();
  EXPECT_THAT(result.failure,
              testing::HasSubstr(spec.name == "stream" ? "without an end" : "samples of part 0"));
  std::cout << "  " << result.failure << "\n";
}

INSTANTIATE_TEST_SUITE_P(Streams, StreamNegativeControls,
                         testing::ValuesIn({Omission{"padding_before_end", "stream", nullptr},
                                            Omission{"acknowledged_in_work", "shared_stream",
                                                     nullptr}}),
                         [](const auto& omission) { return std::string(omission.param.name); });

INSTANTIATE_TEST_SUITE_P(Rules, NegativeControls, testing::ValuesIn(kOmissions),
                         [](const auto& omission) { return std::string(omission.param.name); });

}  // namespace
}  // namespace brigade::stress
