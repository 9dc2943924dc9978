#include "pipeline/worker/tasks/held_task.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include <brigade/text.h>
#include "base/arithmetic.h"
#include "base/shared_path.h"
#include "tests/support/message_of.h"
#include "tests/support/number_line.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using support::Event;
using support::LambdaStage;
using support::Log;
using support::NumberLine;
using support::RunLine;

/// Drops leases on a thread of its own, a little later, the newest first.
class Releaser {
 public:
  ~Releaser() {
    stop_ = true;
    thread_.join();
  }
  void add(Lease lease) {
    const std::lock_guard lock(mutex_);
    kept_.push_back(std::move(lease));
    most_ = std::max(most_, ++out_);
  }
  int out() {
    const std::lock_guard lock(mutex_);
    return out_;
  }
  int most() {
    const std::lock_guard lock(mutex_);
    return most_;
  }
  std::atomic<bool> held_back{false};

 private:
  void run() {
    while (!stop_) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      if (held_back) continue;
      std::vector<Lease> kept;
      {
        const std::lock_guard lock(mutex_);
        kept.swap(kept_);
      }
      for (; !kept.empty(); kept.pop_back()) {
        // Counted first: the loop may look as soon as the lease has gone.
        const std::lock_guard lock(mutex_);
        --out_;
        kept.back().reset();
      }
    }
  }

  std::mutex mutex_;
  std::vector<Lease> kept_;
  int out_ = 0;
  int most_ = 0;
  std::atomic<bool> stop_{false};
  std::thread thread_{[this] { run(); }};
};

NumberLine kept_line() {
  NumberLine line;
  line.samples = 500;
  line.epochs = 3;
  line.batch = 16;
  return line;
}

/// The number line whose sink keeps batches.
GraphBuilder keeping_graph(const NumberLine& line, std::uint64_t hold) {
  GraphBuilder graph = support::number_graph(line);
  graph.type_of("sink").contract.holds = true;
  graph.stage("sink").hold = hold;
  return graph;
}

struct KeepingLine : support::LoggedLine {
  KeepingLine(const NumberLine& line, std::uint64_t hold)
      : LoggedLine(line, keeping_graph(line, hold)) {}
};

/// A logging sink that does `keep` first.
std::unique_ptr<Stage> keeping_sink(Log& log, int replica,
                                    std::function<Result<void>(const Inputs&)> keep) {
  auto logger = std::shared_ptr<LambdaStage>(support::make_logger(log, replica));
  auto sink = std::make_unique<LambdaStage>(
      [logger, keep = std::move(keep)](const Inputs& in, Outputs& out) -> Result<Next> {
        BRIGADE_TRY(keep(in));
        return logger->process(in, out);
      });
  sink->on_epoch_end = [logger](const EpochEnd& end) { return logger->epoch_end(end); };
  return sink;
}

std::function<Result<void>(const Inputs&)> keep_in(Releaser& releaser) {
  return [&releaser](const Inputs& in) -> Result<void> {
    releaser.add(in.keep());
    return {};
  };
}

std::uint64_t period_of_kept(const RunLine& run, const NumberLine& line) {
  return epoch_period(line.samples, run.plan().index_spaces[0].multiple);
}

TEST(KeptTasks, SeveralAreOutAtOnceAndNoMore) {
  const NumberLine line = kept_line();
  KeepingLine run(line, 3);
  Releaser releaser;
  releaser.held_back = true;
  bool in_memory = true;
  run.stages["sink"] = [&](int replica) {
    auto memory = std::make_shared<InputMemory>();
    auto sink = keeping_sink(run.log, replica, [&, memory](const Inputs& in) {
      const auto* const at = static_cast<const std::byte*>(in["value"].data());
      in_memory &= at >= memory->data && at + in["value"].bytes() <= memory->data + memory->bytes;
      return keep_in(releaser)(in);
    });
    static_cast<LambdaStage&>(*sink).on_open = [memory](const OpenContext& context) {
      *memory = context.input_memory.at(0);
      return Result<void>();
    };
    return sink;
  };
  run.while_running = [&] {
    while (releaser.out() < 3) std::this_thread::yield();
    releaser.held_back = false;
  };
  ASSERT_TRUE(run.run().ok());
  EXPECT_EQ(releaser.most(), 3);
  EXPECT_TRUE(in_memory);
}

TEST(KeptTasks, TheEndOfAnEpochComesWhenAllOfItIsBackAndBeforeTheNextEpoch) {
  NumberLine line = kept_line();
  line.samples = 40;  // three batches, the last one short
  KeepingLine run(line, 8);
  Releaser releaser;
  std::atomic<int> early{0};
  run.stages["sink"] = [&](int replica) {
    auto sink = keeping_sink(run.log, replica, keep_in(releaser));
    auto& lambda = static_cast<LambdaStage&>(*sink);
    lambda.on_epoch_end = [&, told = lambda.on_epoch_end](const EpochEnd& end) {
      early += releaser.out();
      return told(end);
    };
    return sink;
  };
  ASSERT_TRUE(run.run().ok());
  EXPECT_EQ(early, 0);
  std::uint32_t ends = 0;
  for (const Event& event : run.log.events[0]) {
    EXPECT_EQ(event.epoch, ends);
    if (event.is_end) ++ends;
  }
  EXPECT_EQ(ends, line.epochs);
}

TEST(KeptTasks, OfTheDeadAreGivenToASuccessorAndTheirLateLeasesDoNothing) {
  const NumberLine line = kept_line();
  KeepingLine run(line, 4);
  run.restarts_max = 1;
  Releaser releaser;
  std::vector<Lease> of_the_dead;
  std::atomic<int> life{0};
  run.stages["sink"] = [&](int replica) {
    const bool first = life++ == 0;
    return keeping_sink(run.log, replica, [&, first, calls = 0](const Inputs& in) mutable {
      if (!first || calls < 10)
        releaser.add(in.keep());
      else
        of_the_dead.push_back(in.keep());
      const bool dies = first && ++calls == 13;  // with two kept, and one in the call
      // The loop finishes the released ones behind this call, before it dies.
      while (first && calls == 11 && releaser.out() > 0) std::this_thread::yield();
      return dies ? Result<void>(Error{"dies"}) : Result<void>();
    });
  };
  run.while_running = [&] {
    while (life < 2) std::this_thread::yield();
    of_the_dead.pop_back();
  };
  ASSERT_EQ(message_of(run.run()), "no error");
  const auto& rings = run.control().doorbells[run.context("sink").number()].rings;
  const auto before = rings.load();
  of_the_dead.clear();
  EXPECT_EQ(rings.load(), before);
  std::vector<Event> calls = run.log.calls("mix");
  const auto same = [](const Event& a, const Event& b) {
    return a.samples.front().number == b.samples.front().number;
  };
  const std::size_t shown = calls.size();
  calls.erase(std::unique(calls.begin(), calls.end(), same), calls.end());
  EXPECT_EQ(shown - calls.size(), 2u);  // shown twice; the third died in its call
  support::expect_same_calls(calls, expected_calls(line, period_of_kept(run, line)));
  EXPECT_EQ(run.audit("mix", "sink").leaked, 0);
}

TEST(KeptTasks, ThatNeverComeBackDoNotHoldUpARunThatFails) {
  const NumberLine line = kept_line();
  KeepingLine run(line, 2);
  std::vector<Lease> kept;
  run.stages["sink"] = [&](int replica) {
    return keeping_sink(run.log, replica, [&](const Inputs& in) -> Result<void> {
      kept.push_back(in.keep());
      return {};
    });
  };
  run.while_running = [&] {
    while (run.context("sink").counters().tasks.load() < 2) std::this_thread::yield();
    abort_all(run.control());
  };
  EXPECT_TRUE(run.run().ok());
  EXPECT_EQ(kept.size(), 2u);
}

/// A sink that saves how many samples it was shown, and notes down where its watermark stands.
class KeepingSaver final : public Stage {
 public:
  KeepingSaver(RunLine& run, Releaser& releaser, std::vector<std::uint64_t>& saved)
      : run_(run), releaser_(releaser), saved_(saved) {}
  Result<Next> process(const Inputs& in, Outputs&) override {
    shown_ += static_cast<std::uint64_t>(in.samples());
    releaser_.add(in.keep());
    return Next::emit;
  }
  Result<std::string> save() override {
    EXPECT_EQ(releaser_.out(), 0);
    saved_.push_back(shown_);
    EXPECT_EQ(run_.queue("sink").watermark->level.value.load(), round_up(shown_, 16));
    return concat(shown_);
  }

 private:
  RunLine& run_;
  Releaser& releaser_;
  std::vector<std::uint64_t>& saved_;
  std::uint64_t shown_ = 0;
};

TEST(KeptTasks, ACheckpointStandsWhereTheStageDoes) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "state").string();
  NumberLine line = kept_line();
  line.epochs = 1;
  GraphBuilder graph = keeping_graph(line, 4);
  RunLine run(graph, [&](Plan& plan) {
    plan.checkpoint_samples = 100;
    for (PlanStage& stage : plan.stages) {
      if (stage.kind != StageKind::consumer) continue;
      stage.saves = true;
      stage.saved_file = file;
      stage.position_file = file + ".position";
    }
  });
  Log log;
  support::fill_number_line(run, line, log);
  Releaser releaser;
  std::vector<std::uint64_t> saved;
  run.stages["sink"] = [&](int) { return std::make_unique<KeepingSaver>(run, releaser, saved); };
  ASSERT_EQ(message_of(run.run()), "no error");
  ASSERT_GE(saved.size(), 3u);
  EXPECT_EQ(saved.back(), 500u);
  EXPECT_EQ(*read_whole_file(file), "500");
}

}  // namespace
}  // namespace brigade
