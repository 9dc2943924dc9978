// Sleepers over the planner's own shapes: nobody is rung later than it can go on.

#include <gtest/gtest.h>

#include <atomic>

#include "tests/support/number_line.h"

namespace brigade {
namespace {

using support::LambdaStage;
using support::RunLine;
using Reader = Channel<SystemPolicy>;

/// The only replica of a stage, asleep on what its next task needs.
class Sleeper {
 public:
  Sleeper(RunLine& line, const std::string& stage)
      : bell_(line.control().bells[line.stage(stage).first_replica]),
        channel_(line.control(), line.index(stage), 0, 0) {
    const Attempt<SystemPolicy> found = channel_.try_claim();
    EXPECT_EQ(found.look, Look::blocked);
    before_ = bell_.rings;
    bell_.until = found.until;
    set_waiter(found.blocked_on->waiters, line.stage(stage).first_replica);
  }
  bool is_rung() const { return bell_.rings != before_; }

 private:
  Bell<SystemPolicy>& bell_;
  std::uint32_t before_ = 0;
  Reader channel_;
};

TEST(WakeUps, EachReaderIsRungWhenItsOwnBatchIsThere) {
  GraphBuilder graph;
  graph.producer("numbers", {support::kValue}).rows = 32;
  for (const int batch : {64, 96}) {
    ValidStage& reader = graph.consumer("by_" + std::to_string(batch), {"numbers"});
    reader.sources[0].batch = batch;
    reader.batched = true;
  }
  RunLine line(graph);
  set_end(line.control(), 0, 192, 192, 1);
  const Sleeper by_64(line, "by_64");
  const Sleeper by_96(line, "by_96");
  Reader writer(line.control(), line.index("numbers"), 0, 0);
  ASSERT_EQ(writer.task_size(), 32u);
  for (std::uint64_t task = 0; task < 3; ++task) {
    EXPECT_EQ(by_64.is_rung(), task >= 2) << task;
    EXPECT_FALSE(by_96.is_rung()) << task;
    writer.finish(task);
  }
  EXPECT_TRUE(by_96.is_rung());
}

TEST(WakeUps, AStreamMayWaitForWhatIsBelowIt) {
  GraphBuilder graph;
  graph.producer("echo", {support::kValue}).rows = 1;
  graph.type_of("echo").indexed = false;
  graph.consumer("count", {"echo"}).rows = 1;
  std::atomic<std::int64_t> had{0};
  std::int64_t given = 0;
  RunLine line(graph);
  line.stages["echo"] = [&](int) {
    return std::make_unique<LambdaStage>([&](const Inputs&, Outputs& out) -> Result<Next> {
      if (given == 2000) return Next::end;
      while (had < given) std::this_thread::yield();  // it has no other way to know
      out["value"].as<std::int64_t>()[0] = given++;
      return Next::emit;
    });
  };
  line.stages["count"] = [&](int) {
    return std::make_unique<LambdaStage>([&](const Inputs&, Outputs&) -> Result<Next> {
      ++had;
      return Next::emit;
    });
  };
  const Result<void> ran = line.run();
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  EXPECT_EQ(had, 2000);
}

}  // namespace
}  // namespace brigade
