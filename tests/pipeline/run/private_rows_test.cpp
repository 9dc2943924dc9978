#include "pipeline/run/private_rows.h"

#include <gtest/gtest.h>

#include "tests/support/number_line.h"

namespace brigade {
namespace {

/// A producer with a dense and a ragged tensor; two rows are written and copied crosswise.
TEST(PrivateRows, AreCopiedToAnyPlaceOfThePool) {
  GraphBuilder graph;
  graph.producer("feed", {support::kValue, {"text", u8, {up_to(100)}}});
  graph.consumer("sink", {"feed"});
  support::RunLine run(graph);
  PlanStage stage = run.stage("feed");
  stage.fan_out = 2;
  PrivateRows rows(run.plan(), stage, run.pools(), 0);

  rows.writer().begin(0);
  rows.writer().select(0);
  Outputs out = rows.writer().outputs();
  ASSERT_EQ(out.rows(), 2);
  for (std::int64_t row : {0, 1}) {
    Outputs one = out.row(row);
    one["value"].as<std::int64_t>()[0] = 70 + row;
    const auto text = one["text"].resize<std::uint8_t>({3 + row}).value();
    std::fill(text.begin(), text.end(), static_cast<std::uint8_t>('a' + row));
  }
  rows.writer().commit(0);
  const RowPool& pool = run.pool("feed");
  const std::uint64_t last = pool.rows() - 1;
  rows.copy_to_pool(1, last);
  rows.copy_to_pool(0, last + 1);

  const auto value = [&](std::uint64_t number) {
    return *reinterpret_cast<const std::int64_t*>(pool.row(0, number));
  };
  const auto text = [&](std::uint64_t number) {
    const auto size = *reinterpret_cast<const std::int64_t*>(pool.row(2, number));
    return std::string(reinterpret_cast<const char*>(pool.row(1, number)),
                       static_cast<std::size_t>(size));
  };
  EXPECT_EQ(value(last), 71);
  EXPECT_EQ(value(0), 70);
  EXPECT_EQ(text(last), "bbbb");
  EXPECT_EQ(text(0), "aaa");
}

}  // namespace
}  // namespace brigade
