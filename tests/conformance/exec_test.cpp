// Stages that are programs (`exec:`) in every shape of line: what the plain loop gives.

#include <gtest/gtest.h>

#include "tests/conformance/exec_host.h"
#include "tests/conformance/line_run.h"
#include "tests/conformance/yaml/shapes.h"

namespace brigade::conformance {
namespace {

class EveryShapeOfPrograms : public testing::TestWithParam<ShapeOfLine> {
 protected:
  /// What differs from the plain loop.
  static std::string difference(int batch, bool wrong, const Disturbance& disturbance = {},
                                int* kills = nullptr) {
    LineRun line;
    const std::string yaml = shape_yaml(GetParam(), 2, batch);
    if (const std::string failed = line.prepare(yaml); !failed.empty()) return failed;
    const PlainLoop plain(line.graph(), line.plan());
    if (line.make_programs(wrong) == 0) return "no program";
    if (disturbance.kills > 0) {
      line.run(disturbance);
      *kills += line.kills();
    } else {
      line.run(false);
    }
    return line.difference_to(plain);
  }
};

TEST_P(EveryShapeOfPrograms, GivesWhatThePlainLoopGives) {
  for (const int batch : {1, 7, 64}) EXPECT_EQ(difference(batch, false), "") << "batch " << batch;
}

TEST_P(EveryShapeOfPrograms, WithAWrongByteDoesNot) {
  if (!has(GetParam(), "record")) GTEST_SKIP() << "nobody writes down what there is";
  EXPECT_NE(difference(7, true), "");
}

TEST_P(EveryShapeOfPrograms, GivesItWhileTheyAreKilled) {
  int kills = 0;
  Disturbance disturbance;
  disturbance.kills = 12;
  for (int seed = 1; seed <= 5 && kills == 0; ++seed) {
    disturbance.seed = static_cast<std::uint64_t>(seed);
    EXPECT_EQ(difference(7, false, disturbance, &kills), "") << "seed " << seed;
  }
  EXPECT_GT(kills, 0);
}

INSTANTIATE_TEST_SUITE_P(Lines, EveryShapeOfPrograms, testing::ValuesIn(shapes()), kNameOfShape);

}  // namespace
}  // namespace brigade::conformance
