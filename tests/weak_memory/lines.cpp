#include "tests/weak_memory/lines.h"

namespace brigade::weak_memory {
namespace {

using support::StageSpec;

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kAcqRel = std::memory_order_acq_rel;

StageSpec in_order(std::uint64_t rows, std::vector<int> inputs, std::uint64_t task = 1) {
  return {1, task, rows, std::move(inputs), true};
}
StageSpec with_words(int replicas, std::uint64_t rows, std::vector<int> inputs) {
  return {replicas, 1, rows, std::move(inputs)};
}

}  // namespace

std::vector<LineCase> small_lines() {
  return {
      {"one_to_one", {in_order(1, {}), in_order(0, {0})}, 3, {255, 2}, 110'000},
      {"one_to_one_two_rows", {in_order(2, {}), in_order(0, {0})}, 4, {3, 2}, 140'000},
      {"one_to_one_words", {with_words(1, 1, {}), with_words(1, 0, {0})}, 3, {255, 2}, 40'000},
      {"batches_of_two", {in_order(2, {}), in_order(0, {0}, 2)}, 4, {255, 2}, 15'000},
      {"one_to_two", {in_order(2, {}), with_words(2, 0, {0})}, 3, {2, 1}, 3'000'000},
      {"one_to_two_one_row", {in_order(1, {}), with_words(2, 0, {0})}, 2, {2, 1}, 900'000},
      {"two_to_one", {with_words(2, 2, {}), in_order(0, {0})}, 3, {2, 1}, 1'500'000},
      {"two_to_one_one_row", {with_words(2, 1, {}), in_order(0, {0})}, 2, {2, 1}, 430'000},
      {"two_to_two", {with_words(2, 2, {}), with_words(2, 0, {0})}, 2, {1, 1}, 230'000},
      {"one_one_one", {in_order(1, {}), in_order(1, {0}), in_order(0, {1})}, 2, {2, 2}, 260'000},
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

std::vector<LineCase> probe_lines() {
  return {
      {"one_to_one", {in_order(1, {}), in_order(0, {0})}, 2, {2, 2}},
      {"one_to_two", {in_order(2, {}), with_words(2, 0, {0})}, 2, {1, 2}},
      {"two_to_one", {with_words(2, 2, {}), in_order(0, {0})}, 2, {1, 2}},
      {"two_to_one_one_row", {with_words(2, 1, {}), in_order(0, {0})}, 2, {1, 2}},
  };
}

std::vector<WeakerCase> weaker_orders() {
  return {
      {{Access::kReached, kAcquire}, false},     {{Access::kReached, kRelaxed}, true},
      {{Access::kOwnLow, kRelaxed}, false},      {{Access::kClaimLook, kRelaxed}, false},
      {{Access::kClaimCas, kRelaxed}, false},    {{Access::kFinishLow, kRelaxed}, true},
      {{Access::kFinishDone, kAcqRel}, true},    {{Access::kAdvanceLow, kRelaxed}, false},
      {{Access::kAdvanceWord, kAcquire}, true},  {{Access::kAdvanceWord, kRelaxed}, true},
      {{Access::kAdvanceCas, kAcqRel}, false},   {{Access::kAdvanceCas, kRelease}, false},
      {{Access::kAdvanceCas, kAcquire}, true},   {{Access::kAdvanceCas, kRelaxed}, true},
      {{Access::kSetWaiter, kAcqRel}, false},    {{Access::kSetWaiter, kAcquire}, false},
      {{Access::kSetWaiter, kRelease}, true},    {{Access::kSetWaiter, kRelaxed}, true},
      {{Access::kClearWaiter, kRelaxed}, false}, {{Access::kBellLook, kAcquire}, false},
      {{Access::kBellLook, kRelaxed}, true},     {{Access::kWakeLook, kAcqRel}, false},
      {{Access::kWakeLook, kRelease}, false},    {{Access::kWakeLook, kAcquire}, true},
      {{Access::kWakeLook, kRelaxed}, true},     {{Access::kRing, kRelease}, false},
      {{Access::kRing, kRelaxed}, true},         {{Access::kGlance, kRelaxed}, false},
  };
}

model::Report explore(const LineCase& line, const Weaker& weaker, std::uint64_t states_max,
                      model::Trace trace) {
  LineProgram program(line.stages, line.samples);
  Machine machine(program, line.bounds, weaker);
  return machine.explore(states_max, trace);
}

}  // namespace brigade::weak_memory
