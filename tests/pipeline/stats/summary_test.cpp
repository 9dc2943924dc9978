#include "pipeline/stats/summary.h"

#include <gtest/gtest.h>

#include "tests/support/example_summary.h"

namespace brigade {
namespace {

TEST(Summary, TellsPeopleWhatTheRunAmountedTo) {
  Plan plan;
  plan.name = "demo";
  EXPECT_EQ(summary_text(plan, example_summary()),
            "demo: 2,000 samples, 2 epochs, 4.0 s, 500 samples/s, first sample after 50.0 ms\n"
            "  stage   replicas  samples  samples/s  busy  waits in  waits out\n"
            "  images         2    2,000        500  10 %       0 %       90 %\n"
            "  train          1    2,000        500  75 %      25 %        0 %\n"
            "  bottleneck: train (busy 75 %): the line keeps up with it\n"
            "  source images: found 1,203, gives 1,000, left out 203: 200 behind `limit:`, 3 files "
            "that are no images\n"
            "  edge images -> train: produced 2,000 = delivered 1,990 + dropped 7 + "
            "quarantined 3, leaked 0\n"
            "  train: loss 0.25, checksum -, set_checksum 000000000000beef\n");
}

TEST(Summary, OfARunThatNeverBeganDividesByNothing) {
  RunSummary summary;
  EXPECT_EQ(summary_text(Plan{}, summary),
            "run: 0 samples, 0 epochs, 0 ns, - samples/s\n"
            "  stage  replicas  samples  samples/s  busy  waits in  waits out\n");
}

}  // namespace
}  // namespace brigade
