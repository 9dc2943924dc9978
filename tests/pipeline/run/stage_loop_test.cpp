#include "pipeline/run/stage_loop.h"

#include <gtest/gtest.h>

#include "tests/support/fake_stages.h"
#include "tests/support/run_line.h"

namespace brigade {
namespace {

using support::Event;

const TensorType kValue{"value", i64, {}};

TEST(StageLoop, ThinnestLine) {
  GraphBuilder graph;
  graph.producer("numbers", {kValue});
  graph.consumer("sink", {"numbers"});
  support::RunLine line(graph);
  line.producers["numbers"] = [](int) {
    return std::make_unique<support::LambdaProducer>(
        1000, [](std::uint64_t index, Outputs& out) -> Result<Next> {
          out["value"].as<std::int64_t>()[0] = static_cast<std::int64_t>(index * index);
          return Next::emit;
        });
  };
  std::vector<Event> log;
  line.stages["sink"] = [&](int) { return support::make_logger(log); };
  const Result<void> ran = line.run();
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  ASSERT_EQ(log.size(), 1001u);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(log[i].values[0], static_cast<std::int64_t>(i * i));
    EXPECT_EQ(log[i].rows[0].id, i);
  }
  EXPECT_TRUE(log.back().is_end);
  EXPECT_EQ(line.audit("numbers", "sink").leaked, 0);
  EXPECT_EQ(line.audit("numbers", "sink").delivered, 1000u);
}

}  // namespace
}  // namespace brigade
