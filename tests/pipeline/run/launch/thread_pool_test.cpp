#include "pipeline/run/launch/thread_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/session.h"

namespace brigade {
namespace {

using testing::HasSubstr;

struct Threads : testing::Test {
  Session session;
  Threads() { session.options.in_process = true; }

  std::unique_ptr<RunSession> start_and_wait_for_a_call(const std::string& consumer) {
    const int before = faulty_calls;
    auto run = session.start(line_yaml(consumer, 1'000'000));
    while (faulty_calls == before) std::this_thread::yield();
    return run;
  }
};

TEST_F(Threads, OneThatFailsEndsThemAll) {
  const RunOutcome outcome =
      session.run(line_yaml("consumer: faulty, params: {process: fail}, replicas: 2", 100'000));
  EXPECT_EQ(exit_code(outcome), 1);
  EXPECT_THAT(outcome.failure, HasSubstr("it failed as told"));
}

TEST_F(Threads, OneThatThrowsWhileItOpensEndsThemAll) {
  const RunOutcome outcome = session.run(line_yaml("consumer: faulty, params: {open: throw}"));
  EXPECT_THAT(outcome.failure, HasSubstr("it threw as told"));
}

TEST_F(Threads, AConstructorThatThrowsAnythingEndsTheRunAndNotTheProgram) {
  const RunOutcome outcome = session.run(line_yaml("consumer: throws_when_made"));
  EXPECT_THAT(outcome.failure, HasSubstr("an exception that is not a std::exception"));
}

TEST_F(Threads, RunDryWhenAsked) {
  const auto run = start_and_wait_for_a_call("consumer: faulty, params: {process: nap}");
  run->stop(SIGINT);
  const RunOutcome& outcome = run->wait();
  EXPECT_EQ(exit_code(outcome), 130);
  EXPECT_TRUE(outcome.ended_by_itself());
  EXPECT_EQ(outcome.summary.edges.at(0).audit.leaked, 0);
}

TEST_F(Threads, EndAtOnceWhenAskedTwice) {
  const auto run = session.start(line_yaml("consumer: count, params: {sleep_ms: 1}", 1'000'000));
  run->stop(SIGINT);
  run->stop(SIGINT);
  EXPECT_EQ(exit_code(run->wait()), 130);
  EXPECT_FALSE(run->abandoned());
}

TEST_F(Threads, OneThatDoesNotReturnIsGivenUp) {
  EXPECT_EXIT(
      {
        const auto run = start_and_wait_for_a_call("consumer: faulty, params: {process: hang}");
        run->stop(SIGINT);
        run->stop(SIGINT);
        const int code = exit_code(run->wait());
        _exit(run->abandoned() ? code : 0);
      },
      testing::ExitedWithCode(130), "");
}

TEST_F(Threads, AProgramGoesOnBesideOneThatDoesNotReturn) {
  EXPECT_EXIT(
      {
        auto run = start_and_wait_for_a_call("consumer: faulty, params: {process: hang}");
        run->stop(SIGINT);
        run->stop(SIGINT);
        run->wait();
        run.reset();
        const RunOutcome next = session.run(line_yaml("consumer: count"));
        _exit(next.summary.figures.samples == 1000 ? 7 : 1);
      },
      testing::ExitedWithCode(7), "a stage does not return");
}

}  // namespace
}  // namespace brigade
