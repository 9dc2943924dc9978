// The comparison can fail: records that are almost right are told from right ones.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/conformance/line_run.h"
#include "tests/conformance/yaml/shapes.h"

namespace brigade::conformance {
namespace {

using Records = std::vector<Events>;

struct Comparisons : testing::Test {
  /// What a consumer of a graph must see, and a record of just that.
  void prepare(const std::string& name, int replicas, const std::string& stage = "end") {
    const auto shape = std::find_if(shapes().begin(), shapes().end(),
                                    [&](const ShapeOfLine& one) { return one.name == name; });
    ASSERT_EQ(line_.prepare(shape_yaml(*shape, replicas, 7)), "");
    const PlainLoop plain(line_.graph(), line_.plan());
    for (const Expected& consumer : plain.consumers())
      if (consumer.stage == stage) expected_ = consumer;
    right_ = as_records(expected_);
    ASSERT_EQ(difference(expected_, right_), "");
  }

  /// As if replicas took turns and each were told of an epoch's end when it has seen all of it.
  static Records as_records(const Expected& expected) {
    Records records(static_cast<std::size_t>(expected.replicas));
    for (std::uint32_t epoch = 0; epoch < expected.epochs; ++epoch) {
      for (int queue = 0; queue < static_cast<int>(expected.ports.size()); ++queue) {
        std::size_t turn = 0;
        for (const Expected::Call& call : expected.calls) {
          if (call.event.epoch != epoch || call.queue != queue) continue;
          const auto replica = expected.fixed ? static_cast<std::size_t>(call.replica) : turn++;
          records[replica % records.size()].push_back(call.event);
        }
        const std::string& port = expected.ports[static_cast<std::size_t>(queue)];
        for (Events& record : records)
          record.push_back({Event::Kind::epoch_end, port, epoch, 0, {}});
      }
    }
    return records;
  }

  using Tamper = std::function<void(Records&)>;
  void expect_told(const char* how, const Tamper& tamper) {
    Records records = right_;
    tamper(records);
    EXPECT_NE(difference(expected_, records), "") << how;
  }

  LineRun line_;
  Expected expected_;
  Records right_;
};

TEST_F(Comparisons, TellASampleThatIsNotRight) {
  for (const int replicas : {1, 2}) {
    prepare("SeveralToSeveral", replicas);
    const auto samples = [](Records& records) -> std::vector<std::string>& {
      return records[0][3].samples;
    };
    ASSERT_EQ(samples(right_).size(), 7u);
    expect_told("one digit", [&](Records& r) { samples(r)[4].back() ^= 1; });
    expect_told("two swapped", [&](Records& r) { std::swap(samples(r)[2], samples(r)[5]); });
    expect_told("one dropped", [&](Records& r) { samples(r).erase(samples(r).begin() + 6); });
    expect_told("one repeated", [&](Records& r) { samples(r).push_back(samples(r).back()); });
    expect_told("one instead of another", [&](Records& r) { samples(r)[1] = samples(r)[0]; });
    expect_told("one in the next batch", [&](Records& r) {
      r[0][4].samples.insert(r[0][4].samples.begin(), samples(r).back());
      samples(r).pop_back();
    });
  }
}

TEST_F(Comparisons, TellACallThatIsNotRight) {
  for (const int replicas : {1, 2}) {
    prepare("SeveralToSeveral", replicas);
    expect_told("dropped", [](Records& r) { r[0].erase(r[0].begin() + 2); });
    expect_told("the first dropped", [](Records& r) { r[0].erase(r[0].begin()); });
    expect_told("repeated", [](Records& r) { r[0].insert(r[0].begin() + 2, r[0][2]); });
    expect_told("swapped", [](Records& r) { std::swap(r[0][2], r[0][3]); });
    expect_told("of another port", [](Records& r) { r[0][2].port = "other"; });
    expect_told("all of it missing", [](Records& r) { r[0].clear(); });
    expect_told("a replica too many", [](Records& r) { r.emplace_back(r[0]); });
  }
  expect_told("seen by both replicas", [](Records& r) { r[1].insert(r[1].begin() + 1, r[0][1]); });
}

TEST_F(Comparisons, TellAnEndOfAnEpochThatIsNotRight) {
  for (const char* shape : {"SeveralToSeveral", "Epochs", "Merge"}) {
    prepare(shape, 1);
    const auto end_of = [](Events& events) {
      return std::find_if(events.begin(), events.end(),
                          [](const Event& event) { return event.kind == Event::Kind::epoch_end; });
    };
    expect_told("missing", [&](Records& r) { r[0].erase(end_of(r[0])); });
    expect_told("twice", [&](Records& r) { r[0].insert(end_of(r[0]), *end_of(r[0])); });
    expect_told("too early", [&](Records& r) { std::swap(*end_of(r[0]), *(end_of(r[0]) - 1)); });
    expect_told("of another epoch", [&](Records& r) { ++end_of(r[0])->epoch; });
  }
  prepare("SeveralToSeveral", 1);
  expect_told("too late", [](Records& r) {
    for (std::size_t i = 0; i + 1 < r[0].size(); ++i)
      if (r[0][i].kind == Event::Kind::epoch_end) return std::swap(r[0][i], r[0][i + 1]);
  });
}

TEST_F(Comparisons, KnowWhoseBatchItIsUnderAssignFixed) {
  prepare("Fixed", 2);
  expect_told("a batch of the other's", [](Records& r) { std::swap(r[0][1], r[1][1]); });
  expect_told("moved", [](Records& r) {
    r[0].insert(r[0].begin() + 2, r[1][1]);
    r[1].erase(r[1].begin() + 1);
  });
  prepare("SeveralToSeveral", 2);
  Records moved = right_;
  moved[0].insert(moved[0].begin() + 2, moved[1][1]);
  moved[1].erase(moved[1].begin() + 1);
  EXPECT_EQ(difference(expected_, moved), "") << "shared work may be anybody's";
}

TEST_F(Comparisons, OfSourcesThatMergeTheOrderIsFree) {
  prepare("Merge", 1);
  Records free = right_;
  const auto other = std::find_if(free[0].begin(), free[0].end(), [&](const Event& event) {
    return event.kind == Event::Kind::call && event.port != free[0][0].port;
  });
  std::rotate(free[0].begin(), other, other + 1);
  EXPECT_EQ(difference(expected_, free), "");
  prepare("Epochs", 1);
  expect_told("turns are not free", [&](Records& r) {
    const auto second = std::find_if(r[0].begin(), r[0].end(), [&](const Event& event) {
      return event.kind == Event::Kind::call && event.port != r[0][0].port;
    });
    std::rotate(r[0].begin(), second, second + 1);
  });
}

TEST_F(Comparisons, TellARealRunOfAnotherGraph) {
  const std::string yaml = shape_yaml(shapes()[2], 2, 7);
  std::string other = yaml;
  other.replace(other.find("seed: 7"), 7, "seed: 8");
  LineRun line, changed;
  ASSERT_EQ(line.prepare(yaml), "");
  ASSERT_EQ(changed.prepare(other), "");
  line.run(true);
  EXPECT_EQ(line.difference_to(PlainLoop(line.graph(), line.plan())), "");
  EXPECT_NE(line.difference_to(PlainLoop(changed.graph(), changed.plan())), "");
}

TEST(GraphAudit, ThatAreOffByOneAreTold) {
  const std::vector<ExpectedEdge> expected{{"a", "b", 10, 9}};
  const EdgeAudit right{10, 9, 1, 0, 0};
  const auto told = [&](const EdgeAudit& audit) {
    return audit_difference(expected, {{"a", "b", audit}}) != "";
  };
  EXPECT_FALSE(told(right));
  EXPECT_TRUE(told({11, 9, 1, 0, 0}));
  EXPECT_TRUE(told({10, 8, 1, 0, 0}));
  EXPECT_TRUE(told({10, 9, 0, 0, 0}));
  EXPECT_TRUE(told({10, 9, 1, 1, 0}));
  EXPECT_TRUE(told({10, 9, 1, 0, 1}));
  EXPECT_NE(audit_difference(expected, {{"a", "c", right}}), "");
  EXPECT_NE(audit_difference(expected, {}), "");
}

}  // namespace
}  // namespace brigade::conformance
