// Every shape of line, read by a program that is ended after some batches, of which it still holds
// some, and begun again from the state that it took there: what it had and what it is given then
// are what the plain loop gives, each batch once and in order.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/conformance/line_run.h"
#include "tests/conformance/yaml/shapes.h"

namespace brigade::conformance {
namespace {

constexpr std::uint64_t kHeldMax = 5;
constexpr int kProgramParts = 3;

/// What differs; empty: nothing.
std::string parts_difference(const LineRun& line, bool numbers_anew) {
  if (!line.outcome().failure.empty()) return line.outcome().failure;
  const PlainLoop plain(line.graph(), line.plan());
  for (Expected expected : plain.consumers()) {
    if (!expected.recorded) continue;
    std::vector<Events> seen = line.records(expected);
    if (numbers_anew) {
      for (Expected::Call& call : expected.calls) forget_numbers(call.event);
      for (Events& events : seen)
        for (Event& event : events) forget_numbers(event);
    }
    const std::string wrong = difference(expected, seen);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::uint64_t expected_calls(const LineRun& line) {
  const PlainLoop plain(line.graph(), line.plan());
  std::uint64_t sum = 0;
  for (const Expected& consumer : plain.consumers())
    if (consumer.recorded) sum += consumer.calls.size();
  return sum;
}

class ProgramState : public testing::TestWithParam<ShapeCase> {
 protected:
  /// In three parts, with other replicas where these are no part of the order.
  std::string run(int batch) {
    const auto& [shape, in_process] = GetParam();
    std::mt19937_64 chance(static_cast<std::uint64_t>(batch));
    LineRun line;
    for (int part = 0; part < kProgramParts; ++part) {
      const int replicas = has(shape, "fixed") || part == 0 ? 2 : part == 1 ? 1 : 4;
      const std::string mistakes = line.prepare(shape_yaml(shape, replicas, batch), kHeldMax);
      if (!mistakes.empty()) return mistakes;
      LineRun::ProgramPart one;
      one.in_process = in_process;
      one.seed = chance();
      if (part + 1 < kProgramParts)
        one.batches = 1 + static_cast<std::int64_t>(
                              chance() % std::max<std::uint64_t>(expected_calls(line) / 2, 1));
      line.run_as_program(one);
      if (!line.outcome().failure.empty()) return line.outcome().failure;
    }
    if (!has(shape, "repack") && line.given_again() != 0)
      return "a state stands before batches that were given";
    return parts_difference(line, has(shape, "repack"));
  }
};

TEST_P(ProgramState, BeforeAndAfterItAreWhatThePlainLoopGives) {
  for (const int batch : {1, 7, 64}) {
    if (kThreadsOnly && batch != 7) continue;
    EXPECT_EQ(run(batch), "") << "batch " << batch << shape_yaml(GetParam().shape, 2, batch);
  }
}

std::vector<ShapeCase> program_cases() {
  std::vector<ShapeOfLine> shapes = shapes_that_resume();
  std::erase_if(shapes, [](const auto& shape) { return !has(shape, "consumer: record"); });
  return as_processes_and_threads(shapes);
}

INSTANTIATE_TEST_SUITE_P(Lines, ProgramState, testing::ValuesIn(program_cases()), kNameOfCase);

// --- the tests of the test

constexpr std::int64_t kSeven = 7;
constexpr std::int64_t kBatchesGiven = 4;

/// The state of a run that has given four batches of seven samples, moved by `samples`.
std::string moved_by(std::int64_t samples) {
  LineRun line;
  const std::string mistakes = line.prepare(shape_yaml(shapes()[0], 2, kSeven), kHeldMax);
  if (!mistakes.empty()) return mistakes;
  LineRun::ProgramPart part;
  part.in_process = true;
  part.batches = kBatchesGiven;
  part.change = [samples](RunState& state) {
    std::uint64_t& index = state.consumers.front().position.queues.front().index;
    EXPECT_EQ(index, static_cast<std::uint64_t>(kBatchesGiven * kSeven));
    index += static_cast<std::uint64_t>(samples);
  };
  line.run_as_program(part);
  part.batches = 0;
  line.run_as_program(part);
  return parts_difference(line, false);
}

TEST(StateOfAnotherBatch, IsNoticed) {
  EXPECT_EQ(moved_by(0), "");
  EXPECT_NE(moved_by(-kSeven), "");
  EXPECT_NE(moved_by(kSeven), "");
  EXPECT_NE(moved_by(-kBatchesGiven * kSeven), "")
      << "as by the watermark, while all batches are held";
}

}  // namespace
}  // namespace brigade::conformance
