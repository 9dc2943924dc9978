// A program reads a graph's batches, in processes and in threads: how outputs are closed, and what
// is said where they wait. What they give is tested by conformance, also of batches that any thread
// returns in any order.

#include "pipeline/application/output_queue.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

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
  const Program program_{};
};

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
