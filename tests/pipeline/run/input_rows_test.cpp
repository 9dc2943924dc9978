#include "pipeline/run/input_rows.h"

#include <gtest/gtest.h>

#include "tests/support/number_line.h"

namespace brigade {
namespace {

/// The first task of `numbers`, made by the producer's own work.
void make_rows(support::RunLine& run) {
  const auto producer = support::make_numbers(100);
  const auto work =
      make_producer_work(run.context("numbers"), *producer, Sampler(100, 128, false, 7));
  ASSERT_TRUE(work->work(0, 0).ok());
}

TEST(InputRows, ConsumersHaveNoWriter) {
  GraphBuilder graph = support::number_graph({});
  support::RunLine run(graph);
  EXPECT_FALSE(InputRows(run.context("sink")).writer.has_value());
  EXPECT_TRUE(InputRows(run.context("mix")).writer.has_value());
}

TEST(InputRows, SamplesInQuarantineAreHoles) {
  GraphBuilder graph = support::number_graph({});
  support::RunLine run(graph);
  make_rows(run);
  const ReplicaContext mix = run.context("mix");
  InputRows rows(mix);
  EXPECT_EQ(rows.begin(mix, 0, 0).states().holes, 0u);
  mix.words().quarantine.append(5);
  RecordReader& reader = rows.begin(mix, 0, 0);
  EXPECT_EQ(reader.states().holes, 1u);
  EXPECT_FALSE(reader.states().is_full(5));
  EXPECT_EQ(reader.states().full, reader.states().rows() - 1);
}

TEST(InputRows, TheQuarantineOfOneLaneIsNotThatOfAnother) {
  GraphBuilder graph;
  graph.producer("numbers", {support::kValue});
  graph.producer("others", {support::kValue});
  graph.consumer("sink", {"others", "numbers"}, Join::epochs);
  support::RunLine run(graph);
  make_rows(run);
  const ReplicaContext sink = run.context("sink");
  sink.words().quarantine.append(lane_number(0, 5));
  InputRows rows(sink);
  EXPECT_EQ(rows.begin(sink, 1, 0).states().holes, 0u);
  sink.words().quarantine.append(lane_number(1, 6));
  EXPECT_FALSE(rows.begin(sink, 1, 0).states().is_full(6));
}

}  // namespace
}  // namespace brigade
