// A program reads a graph's batches: in processes and in threads, with batches that are held,
// returned in any order by any thread, and kept beyond the end of the run.

#include "pipeline/application/output_queue.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <numeric>
#include <random>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>

#include <brigade/text.h>
#include "tests/support/message_of.h"
#include "tests/support/program.h"

namespace brigade {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// 1000 samples an epoch, batches of 16: 63 of them, the last of 8.
std::string graph(const std::string& top = "", const std::string& more = "") {
  return top +
         "stages:\n"
         "  numbers: {producer: synthetic, params: {count: 1000, shape: [3]}, shuffle: true}\n"
         "  work: {transform: passthrough, from: numbers, replicas: 2, batch: 16}\n"
         "  train:\n    consumer: application\n    from: work\n" +
         more;
}

class Programs : public testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<brigade::Run> start(const std::string& yaml) {
    return program_.start(yaml, GetParam());
  }
  /// Of a batch: every element of sample i is its id.
  static std::vector<std::uint64_t> ids(const Batch& batch) {
    std::vector<std::uint64_t> ids;
    const auto data = batch["data"].as<std::int64_t>();
    EXPECT_EQ(data.size(), static_cast<std::size_t>(batch.size()) * 3);
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      ids.push_back(batch.sample(i).id);
      for (std::size_t k = 0; k < 3; ++k)
        EXPECT_EQ(data[static_cast<std::size_t>(i) * 3 + k], static_cast<std::int64_t>(ids.back()));
    }
    return ids;
  }
  static std::vector<std::uint64_t> all_ids() {
    std::vector<std::uint64_t> all(1000);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  const Program program_;
};

TEST_P(Programs, ReturnBatchesInAnyOrderOnAnyThread) {
  auto run = start(graph("epochs: 4\n", "    hold: 8\n"));
  Output train = run->output("train");
  std::mutex mutex;
  std::vector<Batch> held;
  std::atomic<bool> over = false;
  std::multiset<std::uint64_t> seen;
  const auto let_go = [&](unsigned seed) {
    std::mt19937 random(seed);
    while (!over) {
      std::optional<Batch> one;
      {
        const std::lock_guard lock(mutex);
        if (!held.empty()) {
          auto& chosen = held[random() % held.size()];
          std::swap(chosen, held.back());
          one.emplace(std::move(held.back()));
          held.pop_back();
        }
      }
      if (one) {
        const auto found = ids(*one);
        one.reset();
        const std::lock_guard lock(mutex);
        seen.insert(found.begin(), found.end());
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
  };
  std::thread first(let_go, 1), second(let_go, 2);
  for (;;) {
    auto batch = train.next();
    if (!batch.ok()) continue;  // a thread has not run for a second; a run without end is seen
    if (!*batch) break;
    const std::lock_guard lock(mutex);
    held.push_back(std::move(**batch));
  }
  for (bool empty = false; !empty;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard lock(mutex);
    empty = held.empty();
  }
  over = true;
  first.join();
  second.join();
  EXPECT_EQ(seen.size(), 4000u);
  for (const std::uint64_t id : all_ids()) EXPECT_EQ(seen.count(id), 4u);
  EXPECT_TRUE(run->wait().ok());
}

TEST_P(Programs, KeepBatchesBeyondTheEndOfTheRun) {
  std::vector<Batch> kept;
  std::vector<std::vector<std::uint64_t>> before;
  {
    auto run = start(graph());
    for (const Batch& batch : run->output("train")) {
      if (batch.sample(0).index < 61 * 16) continue;
      kept.push_back(batch);  // the last two
      before.push_back(ids(batch));
    }
    EXPECT_EQ(message_of(run->wait()), "no error");
  }
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[1].size(), 8);
  for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(ids(kept[i]), before[i]);
}

TEST_P(Programs, AnOutputThatIsNotThereSaysWhichAre) {
  auto run = start(graph("epochs: 1000\n"));
  EXPECT_FALSE(run->output("test").check().ok());
  EXPECT_EQ(message_of(run->output("test").next()),
            "there is no output \"test\": the graph has train");
  for (const Batch& batch : run->output("test")) ADD_FAILURE() << batch.size();
  EXPECT_EQ(run->wait().error().message, "there is no output \"test\": the graph has train");
}

TEST_P(Programs, AnOutputIsClosedWithItsLastHandle) {
  auto run = start(graph("epochs: 1000\n"));
  for (const Batch& batch : run->output("train"))
    if (batch.sample(0).index >= 100) break;
  EXPECT_THAT(run->output("train").next().error().message,
              HasSubstr("keep a handle for further loops"));
  const auto waited = run->wait();  // nobody reads any more: it ends
  EXPECT_TRUE(waited.ok()) << waited.error().message;
}

TEST_P(Programs, WhatIsClosedHoldsNobodyUp) {
  auto run = start(graph("epochs: 2\n",
                         "  test: {consumer: application, from: work}\n"
                         "  end: {consumer: count, from: work}\n"));
  Output train = run->output("train");
  for (const Batch& batch : run->output("test"))
    if (batch.sample(0).index >= 64) break;
  std::size_t batches = 0;
  for (const Batch& batch : train) batches += batch.size() > 0;
  EXPECT_EQ(batches, 2 * 63u);
  EXPECT_EQ(message_of(run->wait()), "no error");
  EXPECT_EQ(nlohmann::json::parse(*run->summary_json())["results"]["end"]["samples"], 2000);
}

TEST_P(Programs, WhatNobodyAsksForIsClosedByWait) {
  auto run = start(graph("epochs: 2\n", "  end: {consumer: count, from: work}\n"));
  EXPECT_EQ(message_of(run->wait()), "no error");
  EXPECT_THAT(run->output("train").next().error().message, HasSubstr("was closed by wait()"));
}

TEST_P(Programs, ALoopEndsWithARunThatFails) {
  auto run = start(graph("epochs: 1000\n",
                         "  end: {consumer: faulty, from: work,"
                         " params: {process: fail}}\n"));
  for (const Batch& batch : run->output("train")) EXPECT_GT(batch.size(), 0);
  EXPECT_THAT(run->wait().error().message, HasSubstr("it failed as told"));
}

TEST_P(Programs, ALoopEndsWithARunThatIsStopped) {
  auto run = start(graph("epochs: 1000\n"));
  std::size_t batches = 0;
  for (const Batch& batch : run->output("train")) {
    EXPECT_GT(batch.size(), 0);
    if (++batches == 10) run->stop();
  }
  EXPECT_EQ(message_of(run->wait()), "no error");
  EXPECT_LT(batches, 63'000u);  // of 1000 epochs
}

TEST_P(Programs, ReadTurnsToTheirEnds) {
  auto run = start(
      "epochs: 2\n"
      "stages:\n"
      "  train: {producer: synthetic, params: {count: 50, shape: [3]}, batch: 16}\n"
      "  test: {producer: synthetic, params: {count: 20, shape: [3]}, batch: 8}\n"
      "  loop: {consumer: application, from: [train, test], join: epochs, hold: 2}\n");
  std::string order;
  std::optional<Batch> last;  // a loop's variable holds a batch while the next is asked for
  Output loop = run->output("loop");
  for (;;) {
    auto next = loop.next();
    ASSERT_TRUE(next.ok()) << next.error().message;
    if (!*next) break;
    last = std::move(**next);
    order += concat(last->source() == "train" ? "t" : "v", last->size(), ' ');
  }
  EXPECT_EQ(order, "t16 t16 t16 t2 v8 v8 v4 t16 t16 t16 t2 v8 v8 v4 ");
  EXPECT_TRUE(run->wait().ok());
}

TEST_P(Programs, AnOutputBehindAnotherThatIsNotReadSaysSo) {
  auto run = start(graph("epochs: 1000\n", "  test: {consumer: application, from: work}\n"));
  Output train = run->output("train");
  Output test = run->output("test");
  for (;;) {
    const auto next = train.next();
    if (next.ok()) continue;
    EXPECT_THAT(next.error().message,
                AllOf(HasSubstr("output \"train\" receives no batch, and no stage makes progress"),
                      HasSubstr("has not read from \"test\"; alternate between the outputs")));
    EXPECT_EQ(next.error().refusal, Refusal::unread);
    break;
  }
  while (test.next()->value().sample(0).epoch == 0) continue;  // and it goes on
  EXPECT_TRUE(train.next().ok());
}

TEST_P(Programs, ALiveSourceMayPauseBesideAnOutputThatIsNotRead) {
  const std::string fifo = program_.folder().path() / "live";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  auto run = start("stages:\n  live: {producer: lines, params: {file: " + fifo +
                   "}, batch: 1}\n"
                   "  numbers: {producer: synthetic, params: {count: 100000}, batch: 16}\n"
                   "  talk: {consumer: application, from: live}\n"
                   "  rest: {consumer: application, from: numbers}\n");
  ASSERT_NE(run, nullptr);
  Output rest = run->output("rest");
  Output talk = run->output("talk");
  std::thread speaker([&] {
    const int fd = open(fifo.c_str(), O_WRONLY);
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));  // more than it is waited for
    EXPECT_EQ(write(fd, "one\n", 4), 4);
    close(fd);
  });
  EXPECT_EQ(message_of(talk.next()), "no error");
  speaker.join();
}

TEST_P(Programs, TwoThreadsInNextAreRefused) {
  // The first batch comes after a second.
  auto run = start(
      "stages:\n"
      "  numbers: {producer: synthetic, params: {count: 5}}\n"
      "  slow: {transform: delay, from: numbers, params: {ms: 200}, batch: 5}\n"
      "  train: {consumer: application, from: slow}\n");
  Output train = run->output("train");
  std::atomic<int> refused = 0;
  const auto ask = [&] { refused += train.next().ok() ? 0 : 1; };
  std::thread first(ask), second(ask);
  first.join();
  second.join();
  EXPECT_EQ(refused, 1);
}

INSTANTIATE_TEST_SUITE_P(All, Programs, testing::Bool(), threads_or_processes);

struct Refusals : Programs {};

TEST_P(Refusals, WhatAProgramCannotBe) {
  EXPECT_THAT(program_.start_failure(graph("", "    replicas: 2\n")),
              HasSubstr("`replicas:` applies to stages that run in their own processes"));
  EXPECT_THAT(program_.start_failure(graph("checkpoint: {file: a.ckpt}\n")),
              HasSubstr("is a program, which saves its own state"));
  EXPECT_THAT(program_.start_failure(graph("", "  end: {consumer: count, from: work, hold: 2}\n")),
              HasSubstr("`hold:` applies to `consumer: application`"));
}
INSTANTIATE_TEST_SUITE_P(All, Refusals, testing::Values(false));

}  // namespace
}  // namespace brigade
