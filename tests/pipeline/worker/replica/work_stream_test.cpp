#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "tests/support/number_line.h"

namespace brigade {
namespace {

using support::LambdaStage;
using support::RunLine;
using namespace std::chrono_literals;

/// What a stream does, call by call: a number is a sample, the others a Next.
struct Script {
  std::vector<Result<Next>> answers;
  std::size_t at = 0;
  std::int64_t emitted = 0;

  Result<Next> next(Outputs& out) {
    if (at == answers.size()) return Next::end;
    Result<Next> answer = answers[at++];
    if (answer.ok() && *answer == Next::emit) out["value"].as<std::int64_t>()[0] = emitted++;
    return answer;
  }
};

/// feed (a stream) -> mix (two replicas) -> sink (batches of 8, in order).
class Stream : public testing::Test {
 protected:
  void build(std::int64_t max_wait_ns = 5'000'000) {
    graph_.producer("feed", {support::kValue});
    graph_.type_of("feed").indexed = false;
    graph_.type_of("feed").contract.may_drop = true;
    if (skips_) graph_.stage("feed").on_error = {true, 100, 0};
    ValidStage& mix = graph_.transform("mix", {"feed"}, {support::kValue});
    mix.replicas = 2;
    mix.batch = 8;
    ValidStage& sink = graph_.consumer("sink", {"mix"});
    sink.batched = true;
    sink.sources[0].batch = 8;
    sink.sources[0].max_wait_ns = max_wait_ns;
    run_ = std::make_unique<RunLine>(graph_);
    run_->stages["mix"] = [](int) {
      return std::make_unique<LambdaStage>([](const Inputs& in, Outputs& out) -> Result<Next> {
        out["value"].as<std::int64_t>()[0] = in["value"].as<std::int64_t>()[0] * 10;
        return Next::emit;
      });
    };
    run_->stages["sink"] = [this](int) {
      auto stage =
          std::make_unique<LambdaStage>([this](const Inputs& in, Outputs&) -> Result<Next> {
            const auto values = in["value"].as<std::int64_t>();
            calls_.emplace_back(values.begin(), values.end());
            for (std::int64_t slot = 0; slot < in.samples(); ++slot)
              indices_.push_back(in.info(slot).index);
            seen_ += in.samples();
            return Next::emit;
          });
      stage->on_epoch_end = [this](const EpochEnd&) -> Result<void> {
        ++ends_;
        return {};
      };
      return stage;
    };
  }
  void feed(std::function<Result<Next>(Outputs&)> next) {
    run_->stages["feed"] = [next](int) {
      return std::make_unique<LambdaStage>(
          [next](const Inputs&, Outputs& out) { return next(out); });
    };
  }
  void play(std::vector<Result<Next>> answers) {
    script_.answers = std::move(answers);
    feed([this](Outputs& out) { return script_.next(out); });
  }
  void run() {
    const Result<void> ran = run_->run();
    ASSERT_TRUE(ran.ok()) << ran.error().message;
    for (const auto& [writer, reader] : {std::pair("feed", "mix"), std::pair("mix", "sink")}) {
      const EdgeAudit audit = run_->audit(writer, reader);
      EXPECT_EQ(audit.leaked, 0);
      EXPECT_EQ(audit.delivered, seen_.load());
    }
  }
  std::vector<std::int64_t> values() const {
    std::vector<std::int64_t> all;
    for (const auto& call : calls_) all.insert(all.end(), call.begin(), call.end());
    return all;
  }
  static std::vector<std::int64_t> tens(std::int64_t count) {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(i * 10);
    return all;
  }

  GraphBuilder graph_;
  bool skips_ = true;
  std::unique_ptr<RunLine> run_;
  Script script_;
  std::vector<std::vector<std::int64_t>> calls_;
  std::vector<std::uint64_t> indices_;
  std::atomic<std::uint64_t> seen_ = 0;
  int ends_ = 0;
};

class StreamOfSize : public Stream, public testing::WithParamInterface<int> {};

TEST_P(StreamOfSize, GivesEverySampleInBatchesAndEnds) {
  build();
  play(std::vector<Result<Next>>(static_cast<std::size_t>(GetParam()), Next::emit));
  run();
  EXPECT_EQ(values(), tens(GetParam()));
  for (std::size_t c = 0; c + 1 < calls_.size(); ++c) EXPECT_EQ(calls_[c].size(), 8u);
  EXPECT_EQ(ends_, 1);  // an epoch without a sample ends, too
}

INSTANTIATE_TEST_SUITE_P(Sizes, StreamOfSize, testing::Values(0, 1, 7, 8, 9, 63, 64, 65, 1000));

/// A stream with so many samples in each epoch; their values say which.
class StreamOfEpochs : public Stream {
 protected:
  void build_epochs(std::vector<std::int64_t> sizes) {
    sizes_ = std::move(sizes);
    graph_.graph().epochs = sizes_.size();
    build();
    run_->stages["feed"] = [this](int) {
      auto stage = std::make_unique<LambdaStage>([this](const Inputs&, Outputs& out) {
        if (in_flight_ == sizes_.at(epoch_)) return Result<Next>(Next::end);
        const std::int64_t value = static_cast<std::int64_t>(epoch_) * 100 + in_flight_++;
        if (value == std::exchange(dies_at_, value == dies_at_ ? -1 : dies_at_))
          return Result<Next>(Error{"died"});
        out["value"].as<std::int64_t>()[0] = value;
        return Result<Next>(Next::emit);
      });
      stage->on_open = [this](const OpenContext& context) {
        opened_.emplace_back(context.epoch, context.samples_done);
        epoch_ = context.epoch;
        in_flight_ = static_cast<std::int64_t>(context.samples_done);
        return Result<void>();
      };
      stage->on_epoch_end = [this](const EpochEnd& end) {
        feed_ends_.push_back(end.epoch);
        epoch_ = end.epoch + 1;
        in_flight_ = 0;
        return Result<void>();
      };
      return stage;
    };
  }
  /// What the plain loop gives.
  std::vector<std::vector<std::int64_t>> expected_calls() const {
    std::vector<std::vector<std::int64_t>> calls;
    for (std::size_t epoch = 0; epoch < sizes_.size(); ++epoch) {
      for (std::int64_t i = 0; i < sizes_[epoch]; ++i) {
        if (i % 8 == 0) calls.emplace_back();
        calls.back().push_back((static_cast<std::int64_t>(epoch) * 100 + i) * 10);
      }
    }
    return calls;
  }

  std::vector<std::int64_t> sizes_;
  std::size_t epoch_ = 0;
  std::int64_t in_flight_ = 0;
  std::int64_t dies_at_ = -1;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> opened_;
  std::vector<std::uint32_t> feed_ends_;
};

TEST_F(StreamOfEpochs, EachIsClosedAndToldAndCountedAnew) {
  build_epochs({20, 16, 0, 3});
  run();
  EXPECT_EQ(calls_, expected_calls());
  EXPECT_EQ(feed_ends_, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(ends_, 4);
  std::vector<std::uint64_t> indices;
  for (const std::int64_t size : sizes_)
    for (std::int64_t i = 0; i < size; ++i) indices.push_back(static_cast<std::uint64_t>(i));
  EXPECT_EQ(indices_, indices);
}

/// The replica that is started again is a new object; what it finds stands in shared memory.
TEST_F(StreamOfEpochs, ASuccessorGoesOnAtItsWatermark) {
  skips_ = false;
  dies_at_ = 117;
  build_epochs({20, 20});
  run_->restarts_max = 1;
  run();
  EXPECT_EQ(run_->restarts(), 1);
  EXPECT_EQ(calls_, expected_calls());
  ASSERT_EQ(opened_.size(), 2u);
  EXPECT_EQ(opened_[0], (std::pair<std::uint32_t, std::uint64_t>(0, 0)));
  EXPECT_EQ(opened_[1].first, 1u);
  const std::uint64_t task = run_->stage("feed").queues[0].task;
  EXPECT_EQ(opened_[1].second, 17 / task * task);
}

TEST_F(StreamOfEpochs, WhoDiesBeforeTheEndIsSaidIsFollowedByOneWhoSaysIt) {
  build_epochs({8});
  const IndexSpaceNumber index_space = run_->stage("feed").queues[0].index_space;
  const std::uint64_t multiple = run_->plan().index_spaces[index_space].multiple;
  run_->control().epoch_ends[index_space].record(0, multiple);
  run();  // hangs unless the index space is ended
  // Those of the task that died with it.
  EXPECT_EQ(calls_, expected_calls());
  EXPECT_EQ(ends_, 1);
  EXPECT_EQ(run_->control().index_spaces[index_space]->end.value, multiple);
}

TEST_F(Stream, ABatchThatNobodyFillsIsClosed) {
  build(1'000'000);
  play({Next::emit, Next::emit});
  // It says `end` only when both samples have arrived: else this hangs.
  feed([this](Outputs& out) -> Result<Next> {
    if (script_.at < 2) return script_.next(out);
    return seen_ < 2 ? Next::wait : Next::end;
  });
  run();
  EXPECT_EQ(calls_, (std::vector<std::vector<std::int64_t>>{{0, 10}}));
}

TEST_F(Stream, SamplesThatComeInTimeShareABatch) {
  build(60'000'000'000);
  play({Next::wait, Next::emit, Next::wait, Next::wait, Next::emit, Next::wait, Next::emit});
  run();
  EXPECT_EQ(calls_, (std::vector<std::vector<std::int64_t>>{{0, 10, 20}}));
}

TEST_F(Stream, DroppedAndFailedSamplesAreEmptySlots) {
  build();
  play({Next::emit, Next::drop, Next::emit, Error{"bad"}, Next::emit});
  run();
  EXPECT_EQ(values(), tens(3));
  EXPECT_EQ(indices_, (std::vector<std::uint64_t>{0, 2, 4}));
  EXPECT_EQ(run_->audit("feed", "mix").produced, 3u);
}

TEST_F(Stream, AStopEndsItInTheMiddle) {
  build(60'000'000'000);
  std::atomic<bool> emitted = false;
  feed([&](Outputs& out) -> Result<Next> {
    if (script_.emitted == 3) {
      emitted = true;
      return Next::wait;  // for ever
    }
    out["value"].as<std::int64_t>()[0] = script_.emitted++;
    return Next::emit;
  });
  run_->while_running = [&] {
    while (!emitted) std::this_thread::sleep_for(1ms);
    ask_stop(run_->control());
    while (!all_acknowledged<SystemPolicy>(run_->control(), [](int) { return false; }))
      std::this_thread::sleep_for(1ms);
    lower_end(run_->control(), 0, run_->plan().index_spaces[0].multiple);
  };
  run();
  EXPECT_EQ(values(), tens(3));
}

TEST_F(Stream, WaitingUsesNoCpu) {
  build();
  std::atomic<int> calls = 0;
  const auto start = std::chrono::steady_clock::now();
  feed([&](Outputs&) -> Result<Next> {
    ++calls;
    return std::chrono::steady_clock::now() - start < 300ms ? Next::wait : Next::end;
  });
  run();
  // Pauses double from 50 us to 2 ms: about 155 calls; 100,000 without pauses.
  EXPECT_LT(calls, 2000);
}

}  // namespace
}  // namespace brigade
