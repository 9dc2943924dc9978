#include "pipeline/state/run_state.h"

#include <gtest/gtest.h>

#include <brigade/text.h>
#include "pipeline/plan/cache_key.h"
#include "tests/support/number_line.h"

namespace brigade {
namespace {

/// The sink of a line of 100 samples in 2 epochs, batches of 64, as if it were a program's.
class StateOfRun : public testing::Test {
 protected:
  StateOfRun() : run_(support::number_graph(line())), plan_(run_.plan()) {
    set_end(run_.control(), 0, 100, 128, 2);
    plan_.stages[run_.index("sink")].type = kApplicationType;
  }
  static support::NumberLine line() {
    support::NumberLine line;
    line.samples = 100;
    line.batch = 64;
    return line;
  }
  /// With `levels` handed out by the sink.
  std::string bytes(const ByQueue<std::uint64_t>& levels, const std::string& order = "a.b = 1\n") {
    ByStage<ByQueue<std::uint64_t>> all(plan_.stages.size());
    all[run_.index("sink")] = levels;
    ResumePoint resume = run_.resume();
    resume.order = order;
    resume.identity = std::string(32, 'a');
    resume.libraries = "libjpeg-turbo 2.1.5";
    const auto state = state_of_run(plan_, resume, run_.control(), all);
    EXPECT_TRUE(state.ok()) << state.error().message;
    return state ? *state : "";
  }
  static RunState read(const std::string& bytes) {
    auto state = state_from_bytes(bytes);
    EXPECT_TRUE(state.ok()) << state.error().message;
    return state ? *state : RunState();
  }

  support::RunLine run_;
  Plan plan_;
};

TEST_F(StateOfRun, IsWhatWasHandedOutAndNotTheWatermark) {
  run_.queue("sink").watermark->level.value.store(64);
  const RunState handed_out = read(bytes({128 + 64}));
  ASSERT_EQ(handed_out.consumers.size(), 1u);
  EXPECT_EQ(handed_out.consumers[0].stage, "sink");
  EXPECT_EQ(handed_out.consumers[0].position.queues, (std::vector<SamplePosition>{{1, 64}}));
  const RunState by_watermark = read(bytes({}));  // the negative control
  EXPECT_EQ(by_watermark.consumers[0].position.queues, (std::vector<SamplePosition>{{0, 64}}));
  EXPECT_EQ(handed_out.order, "a.b = 1\n");
  EXPECT_EQ(read(state_to_bytes(handed_out)), handed_out);
}

TEST_F(StateOfRun, NamesTheLibrariesAndWhereTensorsAreSavedTheRun) {
  const Position without = read(bytes({64})).consumers[0].position;
  EXPECT_EQ(without.libraries, "libjpeg-turbo 2.1.5");
  EXPECT_EQ(without.identity, "") << "no file belongs to it";
  plan_.shared.emplace_back().save_file = "w.npy";
  EXPECT_EQ(read(bytes({64})).consumers[0].position.identity, std::string(32, 'a'));
}

TEST_F(StateOfRun, ListsComeOnTopOfFourKilobytes) {
  const std::size_t without = bytes({64}).size();
  for (std::uint64_t i = 0; i < 10; ++i)
    run_.context("mix").words().quarantine.append(SampleAddress{0, i}.word());
  const std::string state = bytes({64});
  EXPECT_GT(state.size(), without);
  EXPECT_LT(state.size(), without + 10 * 80);
  EXPECT_EQ(read(state).detail, OrderDetail::facts);
}

std::string order_of(int stages, const std::string& value) {
  std::string order;
  for (int i = 0; i < stages; ++i)
    order += concat("stage_", i, ".type = a\nstage_", i, ".params.names = ", value, "\n");
  return order;
}

TEST_F(StateOfRun, TellsTheOrderInAsMuchDetailAsFits) {
  const std::string much(10'000, 'x');
  struct Case {
    int stages;
    std::string value;
    OrderDetail detail;
    std::string difference;
  };
  for (const Case& one : {Case{3, "b", OrderDetail::facts, "stage_2.params.names was b"},
                          Case{3, much, OrderDetail::facts, "stage_2.params.names was 10000 bytes"},
                          Case{60, much, OrderDetail::stages, "stage_59 was "},
                          Case{300, much, OrderDetail::graph, "graph was "}}) {
    const std::string order = order_of(one.stages, one.value);
    const std::string state = bytes({64}, order);
    EXPECT_LE(state.size(), kStateBytesMax);
    const RunState told = read(state);
    EXPECT_EQ(told.detail, one.detail) << one.stages;
    EXPECT_EQ(told.order, order_in_detail(order, told.detail));
    std::string other = order;
    other.replace(other.size() - 2, 1, "y");
    EXPECT_EQ(
        contents_difference(told.order, order_in_detail(other, told.detail)).find(one.difference),
        0u)
        << contents_difference(told.order, order_in_detail(other, told.detail));
  }
}

TEST_F(StateOfRun, EveryChangedByteIsNoticed) {
  const std::string whole = bytes({64});
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    EXPECT_FALSE(state_from_bytes(damaged).ok()) << at;
    const auto cut = state_from_bytes(whole.substr(0, at));
    ASSERT_FALSE(cut.ok()) << at;
    EXPECT_EQ(cut.error().message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace brigade
