#include "pipeline/report/figures.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "tests/support/number_line.h"

namespace brigade {
namespace {

using support::Log;
using support::NumberLine;
using support::RunLine;

RunFigures figures_after(const NumberLine& line) {
  support::LoggedLine run(line);
  const auto ran = run.run();
  EXPECT_TRUE(ran.ok());
  return read_figures(run.plan(), {}, run.control(), monotonic_ns());
}

TEST(Figures, CountFullSlotsOfAllEpochs) {
  NumberLine line;
  line.samples = 150;
  line.epochs = 2;
  line.batch = 64;
  line.sinks = 2;
  const RunFigures figures = figures_after(line);
  EXPECT_EQ(figures.samples, 300u);
  EXPECT_EQ(figures.samples_expected, 300u);
  EXPECT_EQ(figures.epochs, 2u);
  ASSERT_EQ(figures.stages.size(), 3u);
  EXPECT_EQ(figures.stages[0].name, "numbers");
  EXPECT_EQ(figures.stages[0].samples, 300u);
  EXPECT_EQ(figures.stages[2].replicas, 2);
  EXPECT_EQ(figures.stages[2].samples, 300u);
}

TEST(Figures, LeaveOutWhatDropLastDrops) {
  NumberLine line;
  line.samples = 150;
  line.epochs = 2;
  line.batch = 64;
  line.drop_last = true;
  const RunFigures figures = figures_after(line);
  EXPECT_EQ(figures.samples, 256u);
  EXPECT_EQ(figures.samples_expected, 256u);
}

TEST(Figures, KnowWhenAConsumerHadItsFirstSample) {
  const std::int64_t before = monotonic_ns();
  const RunFigures figures = figures_after(NumberLine());
  EXPECT_GT(figures.first_sample_ns, before);
  EXPECT_LT(figures.first_sample_ns, figures.now_ns);
}

TEST(Figures, OfALineThatHasNotStartedAreZero) {
  const NumberLine line;
  RunLine run(support::number_graph(line));
  const RunFigures figures = read_figures(run.plan(), {}, run.control(), monotonic_ns());
  EXPECT_EQ(figures.samples, 0u);
  EXPECT_EQ(figures.samples_expected, 0u);
  EXPECT_EQ(figures.epochs, 0u);
  EXPECT_EQ(figures.first_sample_ns, 0);
}

TEST(Figures, CountAWaitThatIsStillGoingOn) {
  const NumberLine line;
  RunLine run(support::number_graph(line));
  auto& counters = live_counters(run.control(), run.stage("sink").first_replica);
  counters.wait_in_ns = 100;
  counters.waiting = static_cast<std::uint64_t>(Waiting::input);
  counters.since_ns = 1'000;
  const RunFigures figures = read_figures(run.plan(), {}, run.control(), 1'500);
  EXPECT_EQ(figures.stages.back().wait_in_ns, 600u);
}

}  // namespace
}  // namespace brigade
