// `order: any`: a program gets each batch once, and has no state. That batches come as soon as they
// are finished: python/tests/any_order_test.py.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include <brigade/text.h>
#include "tests/support/program.h"

namespace brigade {
namespace {

struct AnyOrder : testing::Test {
  std::unique_ptr<brigade::Run> start(const std::string& order) {
    return program.start(concat(
        "epochs: 3\nstages:\n  numbers: {producer: synthetic, params: {count: 100, shape: [1]}}\n"
        "  work: {transform: passthrough, from: numbers, replicas: 3, chunk: 1, batch: 8}\n"
        "  out: {consumer: application, from: work, hold: 3, params: {order: ",
        order, "}}\n"));
  }
  const Program program{};
};

// Whole batches of several tasks, of which the last of an epoch is short; epochs stay apart.
TEST_F(AnyOrder, EachSampleOfEachEpochComesOnce) {
  auto run = start("any");
  Output out = run->output("out");
  for (const std::uint64_t epoch : {0, 1, 2}) {
    std::map<std::int64_t, int> seen;
    for (const Batch& batch : out.epoch(epoch)) {
      EXPECT_EQ(batch.epoch(), epoch);
      for (const std::int64_t value : batch["data"].as<std::int64_t>()) ++seen[value];
    }
    EXPECT_EQ(seen.size(), 100u);
    for (const auto& [value, times] : seen) EXPECT_EQ(times, 1) << value;
  }
  EXPECT_TRUE(out.ended());
  EXPECT_TRUE(run->wait().ok());
}

TEST_F(AnyOrder, HasNoStateToGoOnFrom) {
  EXPECT_TRUE(start("graph")->state().ok());
  EXPECT_EQ(start("any")->state().error().message,
            "a run of this graph has no state: the program takes the batches of \"out\" as they "
            "finish (`order: any`), so no position describes what it has read");
}

}  // namespace
}  // namespace brigade
