#include "pipeline/run/input_rows.h"

#include <gtest/gtest.h>

#include "tests/support/number_line.h"

namespace brigade {
namespace {

TEST(InputRows, ConsumersHaveNoWriter) {
  GraphBuilder graph = support::number_graph({});
  support::RunLine run(graph);
  EXPECT_FALSE(InputRows(run.context("sink")).writer.has_value());
  EXPECT_TRUE(InputRows(run.context("mix")).writer.has_value());
}

TEST(InputRows, ReaderAndWriterTurnToTheSameTask) {
  GraphBuilder graph = support::number_graph({});
  support::RunLine run(graph);
  const auto producer = support::make_numbers(100);
  const auto work =
      make_producer_work(run.context("numbers"), *producer, Sampler(100, 128, false, 7));
  ASSERT_TRUE(work->work(0, 64).ok());
  InputRows rows(run.context("mix"));
  RecordReader& reader = rows.begin(0, 64);
  EXPECT_EQ(reader.headers()[0].number, 64u);
  rows.writer->pass_on(reader.headers(), reader.states());
  EXPECT_EQ(rows.writer->headers()[0].number, 64u);
}

}  // namespace
}  // namespace brigade
