// Every shape of line with inputs in the place of producers, all that may be one and each choice of
// them, fed by this program on several threads: consumers see what the plain loop says, which is
// given the same samples.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/conformance/line_run.h"
#include "tests/conformance/yaml/shapes.h"

namespace brigade::conformance {
namespace {

constexpr int kReplicas = 2;
constexpr std::uint64_t kHold = 3;
constexpr std::size_t kSample = 12;  // that no shape filters out

/// Shapes of which no producer may be an input, and how their errors begin: an input is a stream.
const std::map<std::string, std::string>& shapes_without_inputs() {
  static const std::string zipped = "a stream cannot be zipped with another source";
  static const std::string kept = "a cache stores samples by their index";
  static const std::map<std::string, std::string> all = {
      {"Zip", zipped}, {"EmptySlotsInZips", zipped},         {"ZipOfSeveralOfEach", zipped},
      {"Cache", kept}, {"CacheOfEmptySlotsAndRagged", kept}, {"CacheInEpochs", kept},
  };
  return all;
}

/// All others. By name: every process that runs one test of this program lists them.
std::vector<ShapeOfLine> shapes_with_inputs() {
  std::vector<ShapeOfLine> all = all_shapes();
  std::erase_if(
      all, [](const ShapeOfLine& shape) { return shapes_without_inputs().count(shape.name) != 0; });
  return all;
}

class EveryShapeOfInputs : public testing::TestWithParam<ShapeOfLine> {
 protected:
  /// Consumers are outputs of the same program where `hold` is not 0.
  static std::string difference(int batch, const std::set<std::string>& inputs, bool in_process,
                                std::uint64_t hold) {
    LineRun line;
    const std::string yaml = shape_yaml(GetParam(), kReplicas, batch);
    if (const std::string failed = line.prepare(yaml, hold, inputs); !failed.empty()) return failed;
    const PlainLoop plain(line.graph(), line.plan(), line.feeds());
    line.run_as_program(in_process, static_cast<std::uint64_t>(batch) + hold);
    return line.difference_to(plain);
  }
};

TEST_P(EveryShapeOfInputs, GivesWhatThePlainLoopGives) {
  for (const int batch : {1, 7, 64}) {
    for (const auto& inputs : choices_of_inputs(shape_yaml(GetParam(), kReplicas, batch))) {
      for (const bool in_process : {true, false}) {
        if (kThreadsOnly && !in_process && batch != 7) continue;
        for (const std::uint64_t hold : {std::uint64_t{0}, kHold}) {
          if (batch != 7 && (hold == 0) == (batch == 1)) continue;
          EXPECT_EQ(difference(batch, inputs, in_process, hold), "")
              << "batch " << batch << ", inputs " << testing::PrintToString(inputs)
              << (in_process ? ", threads" : ", processes") << ", hold " << hold;
        }
      }
    }
  }
}

/// What `change` makes of what the program gives, behind the plain loop's back, is noticed.
void expect_noticed(const ShapeOfLine& shape, void (*change)(std::optional<PlainTensors>& sample)) {
  const std::string yaml = shape_yaml(shape, kReplicas, 7);
  for (const auto& inputs : choices_of_inputs(yaml)) {
    LineRun line;
    ASSERT_EQ(line.prepare(yaml, kHold, inputs), "");
    const PlainLoop plain(line.graph(), line.plan(), line.feeds());
    Feed& feed = line.feeds().begin()->second;
    auto& epoch = feed.front().size() > kSample ? feed.front() : feed.back();
    change(epoch.at(std::min(kSample, epoch.size() - 1)));
    line.run_as_program(true, 1);
    EXPECT_NE(line.difference_to(plain), "") << testing::PrintToString(inputs);
  }
}

TEST_P(EveryShapeOfInputs, WithAWrongByteDoesNot) {
  if (!has(GetParam(), "record")) GTEST_SKIP() << "nobody writes down what there is";
  expect_noticed(GetParam(), [](auto& sample) { sample->front().second.bytes.front() ^= 1; });
}

TEST_P(EveryShapeOfInputs, WithASampleLessDoesNot) {
  expect_noticed(GetParam(), [](auto& sample) { sample.reset(); });
}

INSTANTIATE_TEST_SUITE_P(Lines, EveryShapeOfInputs, testing::ValuesIn(shapes_with_inputs()),
                         kNameOfShape);

/// So that the suite above cannot become smaller without a word.
TEST(ShapesOfInputs, AreAllButThoseThatCannotLieBelowAStream) {
  const auto& refused = shapes_without_inputs();
  std::size_t choices = 0;
  std::map<std::string, std::string> found;
  for (const ShapeOfLine& shape : all_shapes()) {
    const std::string yaml = shape_yaml(shape, kReplicas, 7);
    const std::size_t some = choices_of_inputs(yaml).size();
    choices += some;
    if (some > 0) continue;
    LineRun original;
    ASSERT_EQ(original.prepare(yaml), "");
    const auto all = producers_of(original.graph());
    found[shape.name] = LineRun().prepare(yaml, 0, {all.begin(), all.end()});
  }
  ASSERT_EQ(found.size(), refused.size()) << testing::PrintToString(found);
  for (const auto& [shape, why] : refused) EXPECT_THAT(found[shape], testing::StartsWith(why));
  EXPECT_EQ(choices, 49u);
}

}  // namespace
}  // namespace brigade::conformance
