#include "tests/weak_memory/lines.h"

#include <string>
#include <utility>

namespace brigade::weak_memory {
namespace {

using support::StageSpec;

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kAcqRel = std::memory_order_acq_rel;

StageSpec in_order(std::uint64_t rows, std::vector<StageNumber> inputs, std::uint64_t task = 1) {
  return {1, task, rows, std::move(inputs), true};
}
/// A program that takes tasks of stage 0 as they finish.
StageSpec any_order() { return {1, 1, 0, {0}, false, false, 1, 2, false, true}; }
StageSpec with_words(int replicas, std::uint64_t rows, std::vector<StageNumber> inputs) {
  return {replicas, 1, rows, std::move(inputs)};
}

}  // namespace

std::vector<LineCase> small_lines() {
  const ByStage<StageSpec> in_line = {in_order(1, {}), in_order(0, {0})};
  const ByStage<StageSpec> two_rows = {in_order(2, {}), in_order(0, {0})};
  const ByStage<StageSpec> to_batches = {in_order(2, {}), in_order(0, {0}, 2)};
  const ByStage<StageSpec> to_one = {with_words(2, 2, {}), in_order(0, {0})};
  const ByStage<StageSpec> to_two = {in_order(2, {}), with_words(2, 0, {0})};
  const ByStage<StageSpec> row_to_two = {in_order(1, {}), with_words(2, 0, {0})};
  const ByStage<StageSpec> two_to_two = {with_words(2, 2, {}), with_words(2, 0, {0})};
  const ByStage<StageSpec> three = {in_order(1, {}), in_order(1, {0}), in_order(0, {1})};
  const ByStage<StageSpec> to_program = {with_words(2, 2, {}), any_order()};
  constexpr auto finishers = WakeOrder::by_finisher;
  return {
      {"one_to_one", in_line, 3, {255, 2}, 80'000},
      {"one_to_one_two_rows", two_rows, 4, {3, 2}, 100'000},
      {"one_to_one_words", {with_words(1, 1, {}), with_words(1, 0, {0})}, 3, {255, 2}, 40'000},
      {"batches_of_two", to_batches, 4, {255, 2}, 15'000},
      {"one_to_two", to_two, 3, {2, 1}, 2'000'000},
      {"one_to_two_one_row", row_to_two, 2, {1, 1}, 55'000},
      {"two_to_one", to_one, 3, {1, 1}, 50'000},
      {"two_to_one_one_row", {with_words(2, 1, {}), in_order(0, {0})}, 2, {2, 1}, 430'000},
      {"two_to_two", two_to_two, 2, {1, 1}, 210'000},
      {"one_one_one", three, 2, {2, 2}, 180'000},
      {"one_to_one_finishers_pay", in_line, 3, {255, 2}, 60'000, {}, finishers},
      {"two_rows_finishers_pay", two_rows, 4, {3, 2}, 18'000, {}, finishers},
      {"batches_of_two_finishers_pay", to_batches, 4, {255, 2}, 10'000, {}, finishers},
      {"one_to_two_finishers_pay", to_two, 3, {1, 1}, 130'000, {}, finishers},
      {"one_row_to_two_finishers_pay", row_to_two, 2, {2, 1}, 650'000, {}, finishers},
      {"two_to_one_finishers_pay", to_one, 3, {2, 1}, 950'000, {}, finishers},
      {"two_to_two_finishers_pay", two_to_two, 2, {1, 1}, 240'000, {}, finishers},
      {"one_one_one_finishers_pay", three, 2, {2, 2}, 54'000, {}, finishers},
      {"two_to_a_program", to_program, 3, {1, 1}, 10'000},
      {"two_to_a_program_held_up", to_program, 3, {2, 0}, 700'000},
      {"two_to_a_program_finishers_pay", to_program, 3, {1, 1}, 10'000, {}, finishers},
  };
}

std::vector<LineCase> large_lines() {
  return {
      {"large_one_to_one", {in_order(2, {}), in_order(0, {0})}, 5, {255, 3}},
      {"large_one_to_two", {in_order(2, {}), with_words(2, 0, {0})}, 3, {2, 2}},
      {"large_two_to_one", {with_words(2, 2, {}), in_order(0, {0})}, 3, {2, 2}},
      {"large_two_to_two", {with_words(2, 2, {}), with_words(2, 0, {0})}, 2, {2, 1}},
      {"large_one_two_one", {in_order(1, {}), with_words(2, 1, {0}), in_order(0, {1})}, 2, {2, 1}},
  };
}

std::vector<LineCase> supervised_lines() {
  Script first_dies, second_dies, third_dies, stop;
  first_dies.victim = 0;
  second_dies.victim = 1;
  third_dies.victim = 2;
  Script first_is_gone = first_dies, third_is_gone = third_dies;
  first_is_gone.restart = third_is_gone.restart = false;
  stop.stop = true;
  Script empty_slots = first_dies;
  empty_slots.empty_slots = 0b101;
  const ByStage<StageSpec> in_line = {in_order(1, {}), in_order(0, {0})};
  const ByStage<StageSpec> to_one = {with_words(2, 2, {}), in_order(0, {0})};
  const ByStage<StageSpec> to_two = {in_order(2, {}), with_words(2, 0, {0})};
  const ByStage<StageSpec> words = {with_words(1, 1, {}), in_order(0, {0})};
  const ByStage<StageSpec> one_row = {with_words(2, 1, {}), in_order(0, {0})};
  const ByStage<StageSpec> to_program = {with_words(2, 2, {}), any_order()};
  const ByStage<StageSpec> alone = {in_order(2, {})};
  constexpr auto sleepers = WakeOrder::by_sleeper, finishers = WakeOrder::by_finisher;
  return {
      {"writer_dies", in_line, 2, {2, 1}, 70'000, first_dies, sleepers},
      {"writer_dies_finishers_pay", in_line, 2, {2, 1}, 32'000, first_dies, finishers},
      {"reader_dies", in_line, 2, {2, 1}, 55'000, second_dies, sleepers},
      {"reader_dies_finishers_pay", in_line, 2, {2, 1}, 28'000, second_dies, finishers},
      {"writer_with_words_dies", words, 2, {2, 1}, 80'000, first_dies, sleepers},
      {"writer_with_words_dies_finishers_pay", words, 2, {2, 1}, 55'000, first_dies, finishers},
      // Of what takes longer each has one order here, and the other in weak_memory_chaos_test.
      {"one_of_two_writers_dies", to_one, 2, {1, 1}, 290'000, first_dies, finishers},
      {"one_of_two_writers_is_gone", to_one, 2, {1, 1}, 250'000, first_is_gone, sleepers},
      {"one_of_two_readers_dies", to_two, 2, {1, 1}, 440'000, third_dies, sleepers},
      {"one_of_two_readers_is_gone", to_two, 2, {1, 1}, 250'000, third_is_gone, finishers},
      {"writer_with_a_tally_dies", {with_words(1, 2, {})}, 3, {255, 1}, 400, empty_slots, sleepers},
      {"writer_in_order_with_a_tally_dies", alone, 3, {255, 1}, 180, empty_slots, sleepers},
      {"writer_above_a_program_dies", to_program, 2, {1, 1}, 10'000, first_dies, finishers},
      {"stop_of_one_to_one", in_line, 3, {2, 1}, 350'000, stop, sleepers},
      {"stop_of_one_to_one_finishers_pay", in_line, 3, {1, 1}, 21'000, stop, finishers},
      {"stop_of_two_to_one", one_row, 2, {1, 1}, 650'000, stop, finishers},
  };
}

std::vector<LineCase> mistaken_lines() {
  std::vector<LineCase> lines;
  const auto add = [&](const char* name, const char* like, const auto& change) {
    for (LineCase& line : supervised_lines()) {
      if (std::string(line.name) != like) continue;
      line.name = name;
      change(line.script);
      lines.push_back(std::move(line));
    }
  };
  using Mistake = Script::Mistake;
  add("not_opened_again", "writer_with_words_dies", [](Script& s) { s.rules.reopen = false; });
  add("not_advanced", "one_of_two_writers_is_gone", [](Script& s) { s.rules.advance = false; });
  add("not_counted", "one_of_two_writers_is_gone", [](Script& s) { s.rules.count = false; });
  add("not_rung", "one_of_two_writers_is_gone", [](Script& s) { s.rules.ring = false; });
  add("not_cleared", "one_of_two_readers_is_gone", [](Script& s) { s.rules.clear = false; });
  add("not_settled", "writer_with_a_tally_dies", [](Script& s) { s.rules.settle = false; });
  add("not_settled_in_order", "writer_in_order_with_a_tally_dies",
      [](Script& s) { s.rules.settle = false; });
  add("counted_first", "one_of_two_writers_is_gone",
      [](Script& s) { s.mistake = Mistake::counted_first; });
  add("acknowledged_in_hand", "stop_of_one_to_one",
      [](Script& s) { s.mistake = Mistake::acknowledged_in_hand; });
  lines.push_back(any_order_lines().front());
  lines.back().name = "not_brought_along";
  lines.back().script.mistake = Mistake::not_brought_along;
  lines.back().bounds = {2, 0};  // a writer is held up before it is DONE, and right after
  return lines;
}

std::vector<LineCase> any_order_lines() {
  std::vector<LineCase> lines;
  for (LineCase& line : small_lines())
    if (line.stages.back().any_order) lines.push_back(std::move(line));
  return lines;
}

std::vector<LineCase> probe_lines(WakeOrder order) {
  // A finisher that waits next has all pass a barrier: who misses it, does so before that.
  const Bounds two_finishers = order == WakeOrder::by_sleeper ? Bounds{2, 1} : Bounds{1, 2};
  return {
      {"one_to_one", {in_order(1, {}), in_order(0, {0})}, 2, {2, 2}, 0, {}, order},
      {"one_to_two", {in_order(2, {}), with_words(2, 0, {0})}, 2, {1, 2}, 0, {}, order},
      {"two_to_one", {with_words(2, 2, {}), in_order(0, {0})}, 2, two_finishers, 0, {}, order},
      {"two_to_one_one_row", {with_words(2, 1, {}), in_order(0, {0})}, 2, {1, 2}, 0, {}, order},
  };
}

std::vector<WeakerCase> weaker_orders(WakeOrder order) {
  if (order == WakeOrder::by_finisher) {
    return {
        {{Access::kReached, kAcquire}, true},       {{Access::kFinishLevel, kAcqRel}, true},
        {{Access::kGlance, kAcquire}, true},        {{Access::kGlance, kRelaxed}, true},
        {{Access::kSetWaiter, kAcqRel}, true},      {{Access::kSetWaiter, kRelaxed}, true},
        {{Access::kFinishDone, kAcqRel}, true},     {{Access::kAdvanceWord, kAcquire}, true},
        {{Access::kAdvanceCas, kAcqRel}, false},    {{Access::kWakeLook, kRelaxed}, false},
        {{Access::kDoorbellLook, kRelaxed}, false}, {{Access::kRing, kRelaxed}, false},
    };
  }
  return {
      {{Access::kReached, kAcquire}, false},      {{Access::kReached, kRelaxed}, true},
      {{Access::kOwnLevel, kRelaxed}, false},     {{Access::kClaimLook, kRelaxed}, false},
      {{Access::kClaimCas, kRelaxed}, false},     {{Access::kFinishLevel, kRelaxed}, true},
      {{Access::kFinishDone, kAcqRel}, true},     {{Access::kAdvanceLevel, kRelaxed}, false},
      {{Access::kAdvanceWord, kAcquire}, true},   {{Access::kAdvanceWord, kRelaxed}, true},
      {{Access::kAdvanceCas, kAcqRel}, false},    {{Access::kAdvanceCas, kRelease}, false},
      {{Access::kAdvanceCas, kAcquire}, true},    {{Access::kAdvanceCas, kRelaxed}, true},
      {{Access::kBarrier, kRelaxed}, true},       {{Access::kKeepOrder, kRelaxed}, true},
      {{Access::kSetWaiter, kRelaxed}, false},    {{Access::kClearWaiter, kRelaxed}, false},
      {{Access::kDoorbellLook, kRelaxed}, false}, {{Access::kWakeLook, kRelaxed}, false},
      {{Access::kRing, kRelaxed}, false},
  };
}

std::vector<LineCase> supervised_probe_lines() {
  std::vector<LineCase> lines;
  for (LineCase& line : supervised_lines()) {
    line.bounds = {1, 1};
    line.order = WakeOrder::by_finisher;  // a sleeper's barrier orders more than these words need
    const std::string name = line.name;
    if (name == "writer_with_a_tally_dies" || name == "writer_with_words_dies" ||
        name == "one_of_two_writers_is_gone" || name == "stop_of_one_to_one")
      lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<WeakerCase> weaker_orders_of_the_supervisor() {
  return {
      {{Access::kTallyCommit, kRelaxed}, true}, {{Access::kReopen, kRelaxed}, true},
      {{Access::kCountRepair, kRelaxed}, true}, {{Access::kRepairsLook, kRelaxed}, true},
      {{Access::kClaimCas, kRelaxed}, false},   {{Access::kAcknowledge, kRelease}, false},
      {{Access::kAcknowledge, kRelaxed}, true}, {{Access::kAckLook, kAcquire}, false},
      {{Access::kAckLook, kRelaxed}, true},     {{Access::kStopLook, kRelaxed}, false},
      {{Access::kAskStop, kRelaxed}, false},    {{Access::kLowerEnd, kRelaxed}, false},
      {{Access::kEndIsSet, kRelaxed}, false},   {{Access::kEndLook, kRelaxed}, false},
      {{Access::kWordLook, kRelaxed}, false},
  };
}

std::vector<WeakerCase> weaker_orders_of_a_program() {
  return {
      {{Access::kDoneAbove, kAcquire}, false},  // a bell that comes late, with the watermark
      {{Access::kDoneAbove, kRelaxed}, true},
  };
}

Report explore(const LineCase& line, const Weaker& weaker, std::uint64_t states_max, Trace trace) {
  LineProgram program(line.stages, line.samples, line.order, line.script);
  Machine machine(program, line.bounds, weaker);
  return machine.explore(states_max, trace);
}

}  // namespace brigade::weak_memory
