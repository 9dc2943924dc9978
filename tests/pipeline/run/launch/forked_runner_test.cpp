#include "pipeline/run/launch/forked_runner.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/fd_packet.h"
#include "base/io.h"

namespace brigade {
namespace {

using namespace std::string_literals;

/// What is no `exec:`.
class Others final : public ProcessRunner {
 public:
  void start(SpawnRequest request) override {
    titles.push_back(std::move(request.title));
    answer_ = RunningProcess{77, -1};
    eventfd_write(started_.get(), 1);
  }
  int started_fd() const override { return started_.get(); }
  std::optional<Result<RunningProcess>> take_started() override {
    return std::exchange(answer_, std::nullopt);
  }
  Ending end(const RunningProcess&) override { return {Ending::Kind::exited, 3}; }
  void reap(RunningProcess&) override {}
  void kill(const RunningProcess& process) override { killed = process.pid; }
  void signal(const RunningProcess&, int) override {}
  void leave(RunningProcess&) override {}

  std::vector<std::string> titles;
  pid_t killed = 0;

 private:
  OwnedFd started_{eventfd(0, EFD_CLOEXEC)};
  std::optional<Result<RunningProcess>> answer_;
};

/// The test is the forker.
struct ForkedRunnerTest : testing::Test {
  Others others;
  FdSockets sockets = open_fd_sockets().value();
  std::unique_ptr<ForkedRunner> runner = ForkedRunner::create(sockets.one.get(), others).value();
  SpawnRequest request;
  std::pair<OwnedFd, OwnedFd> worker;

  ForkedRunnerTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    worker = {OwnedFd(ends[0]), OwnedFd(ends[1])};
    request.title = "brigade: workers.0";
    request.command = {"/usr/bin/python3"};
    request.environment = {"A=1", "B=two\nlines"};
    request.output = 1;
    request.keep = {0, 2};
  }

  bool is_ready() const {
    pollfd ready{runner->started_fd(), POLLIN, 0};
    return poll(&ready, 1, 0) == 1;
  }
  void say(std::string_view text) {
    const int fds[] = {2, worker.second.get()};
    EXPECT_TRUE(send_fds(sockets.other.get(), text, fds).ok());
  }
  /// What has come to workers.
  std::string begun() {
    worker.second.reset();
    char bytes[16];
    const ssize_t count = read(worker.first.get(), bytes, sizeof bytes);
    return {bytes, static_cast<std::size_t>(count)};
  }
  FdPacket heard() { return std::move(*receive_fd(sockets.other.get()).value()); }
  bool has_heard() const {
    pollfd ready{sockets.other.get(), POLLIN, 0};
    return poll(&ready, 1, 0) == 1;
  }
  std::string why_not() { return runner->take_started().value().error().message; }
};

TEST_F(ForkedRunnerTest, AsksForAWorkerAndTakesTheAnswer) {
  runner->start(request);
  const FdPacket asked = heard();
  EXPECT_EQ(asked.text, "1");
  char text[256];
  const ssize_t bytes = read_all_at(asked.fd.get(), text, sizeof text, 0);
  EXPECT_EQ(std::string(text, static_cast<std::size_t>(bytes)),
            "brigade: workers.0\0\0\0"
            "0,2\0A=1\0B=two\nlines\0"s);
  EXPECT_FALSE(is_ready());
  EXPECT_FALSE(runner->take_started().has_value());

  say("started 1 4711");
  EXPECT_TRUE(is_ready());
  const RunningProcess process = runner->take_started().value().value();
  EXPECT_EQ(process.pid, 4711);
  EXPECT_GT(process.pidfd, 2);
  close(process.pidfd);
  EXPECT_FALSE(is_ready());
  EXPECT_EQ(begun(), "g");
  runner->kill(process);
  EXPECT_EQ(others.killed, 4711);
}

TEST_F(ForkedRunnerTest, AsksASuccessorForWhatWasUnderWay) {
  say("hello");
  EXPECT_FALSE(runner->take_started().has_value());
  EXPECT_FALSE(has_heard());  // nothing is
  runner->start(request);
  EXPECT_EQ(heard().text, "1");
  say("hello");
  EXPECT_FALSE(runner->take_started().has_value());
  EXPECT_EQ(heard().text, "1");
  say("started 1 11");
  close(runner->take_started().value().value().pidfd);
  say("hello");
  EXPECT_FALSE(runner->take_started().has_value());
  EXPECT_FALSE(has_heard());  // it was answered
}

TEST_F(ForkedRunnerTest, ASecondAnswerIsNoAnswerToTheNextRequest) {
  runner->start(request);
  say("started 1 11");
  close(runner->take_started().value().value().pidfd);
  runner->start(request);
  say("started 1 12");
  EXPECT_FALSE(runner->take_started().has_value());
  say("started 2 13");
  const RunningProcess process = runner->take_started().value().value();
  EXPECT_EQ(process.pid, 13);
  close(process.pidfd);
  EXPECT_EQ(begun(), "gg");  // of 11 and 13
}

TEST_F(ForkedRunnerTest, SaysWhyAWorkerWasNotForked) {
  runner->start(request);
  say("failed 1 cannot fork a worker: no memory");
  EXPECT_EQ(why_not(), "cannot fork a worker: no memory");
}

TEST_F(ForkedRunnerTest, WithoutAForkerStartsFailAndNothingWaits) {
  runner->start(request);
  say("started 1 11");
  shutdown(sockets.other.get(), SHUT_RDWR);
  close(runner->take_started().value().value().pidfd);  // what was said before counts
  runner->start(request);
  EXPECT_TRUE(is_ready());
  EXPECT_NE(why_not(), "");
  EXPECT_FALSE(runner->take_started().has_value());
  EXPECT_FALSE(is_ready());
  runner->start(request);
  EXPECT_EQ(why_not(), "the process that forks workers has ended");
}

TEST_F(ForkedRunnerTest, AStartThatIsUnderWayFailsWhenNobodyForksAnyMore) {
  runner->start(request);
  EXPECT_FALSE(is_ready());
  shutdown(sockets.other.get(), SHUT_RDWR);
  EXPECT_TRUE(is_ready());
  EXPECT_EQ(why_not(), "the process that forks workers has ended");
  EXPECT_FALSE(is_ready());
}

TEST_F(ForkedRunnerTest, WhatIsNoProgramIsStartedByTheOthers) {
  request.command.clear();
  runner->start(request);
  EXPECT_FALSE(has_heard());
  EXPECT_EQ(others.titles, std::vector<std::string>{"brigade: workers.0"});
  EXPECT_TRUE(is_ready());
  EXPECT_EQ(runner->take_started().value().value().pid, 77);
}

}  // namespace
}  // namespace brigade
