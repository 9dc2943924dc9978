// What a run says is read by nobody: that must not hold up repair, restart or stop.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include <brigade/text.h>
#include "base/owned_fd.h"
#include "pipeline/report/console.h"
#include "pipeline/run/attach.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

/// A terminal whose buffer is full, and which nobody reads for now: a write to it waits.
class UnreadTerminal {
 public:
  UnreadTerminal() {
    int ends[2];
    EXPECT_EQ(openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr), 0);
    outer_.reset(ends[0]);
    inner_.reset(ends[1]);
    fcntl(fd(), F_SETFL, O_NONBLOCK);
    const std::string text(1000, '.');
    // The kernel passes on what was written a little later, and there is room again.
    for (pollfd room{fd(), POLLOUT, 0}; poll(&room, 1, 200) == 1;)
      if (write(fd(), text.data(), text.size()) < 0 && write(fd(), ".", 1) < 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    fcntl(fd(), F_SETFL, 0);
  }
  ~UnreadTerminal() {
    over_ = true;
    if (reader_.joinable()) reader_.join();
  }

  int fd() const { return inner_.get(); }

  /// From now on somebody does.
  void read_from_now_on() {
    reader_ = std::thread([this] {
      while (!over_) {
        pollfd ready{outer_.get(), POLLIN, 0};
        char bytes[4096];
        if (poll(&ready, 1, 10) == 1 && read(outer_.get(), bytes, sizeof bytes) < 0) return;
      }
    });
  }

 private:
  OwnedFd outer_;
  OwnedFd inner_;
  std::atomic<bool> over_{false};
  std::thread reader_;
};

constexpr int kKills = 50;
constexpr int kWork = 1;                            // the stage, by its number in the plan
constexpr auto kHangs = std::chrono::seconds(120);  // what takes so long will not come
constexpr auto kAWhile = std::chrono::milliseconds(500);

constexpr const char* kStages = R"(
epochs: 1000000
stages:
  numbers: {producer: synthetic, params: {count: 10000, shape: [4], dtype: f32}}
  work:
    transform: delay
    from: numbers
    replicas: 2
    params: {ms: 0.1}
    restart: {policy: on_failure, backoff: 0ms, burst: 1000000}
  end: {consumer: count, from: work}
)";

/// As the console was once: whoever has a line waits until it is written.
class WaitingLines final : public RunOutput {
 public:
  explicit WaitingLines(int fd) : fd_(fd) {}
  void tell(const Event& event) override {
    const std::string text = event_text(event);
    std::string_view rest = text;
    while (!rest.empty()) {
      const ssize_t written = write(fd_, rest.data(), rest.size());
      if (written <= 0) return;
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  std::int64_t progress_every_ns() const override { return 0; }

 private:
  int fd_;
};

/// A FIFO, as a log file: full, and held open so that opening it waits for nobody.
struct UnreadFifo {
  TemporaryFolder folder;
  const std::string path = (folder.path() / "log").string();
  OwnedFd both_ends;

  UnreadFifo() {
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    both_ends.reset(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    const std::string text(4096, '.');
    while (write(both_ends.get(), text.data(), text.size()) > 0) {
    }
  }
};

struct UnreadOutput : testing::Test {
  UnreadTerminal terminal;
  TemporaryFolder folder;
  Session session;
  std::unique_ptr<RunOutput> lines;
  std::unique_ptr<RunSession> run;

  /// Until all stages are at work.
  void start() {
    const std::string file = (folder.path() / "work").string();
    auto started = RunSession::start(
        session.planned(concat("checkpoint: {file: ", file, ", every: 10ms}", kStages)),
        session.types, *lines, {});
    ASSERT_TRUE(started.ok()) << started.error().message;
    run = std::move(started).value();
    ASSERT_TRUE(happens([&] { return std::filesystem::exists(file); }, kHangs));
  }
  static bool happens(const std::function<bool()>& condition, std::chrono::nanoseconds within) {
    const auto start = std::chrono::steady_clock::now();
    while (!condition()) {
      if (std::chrono::steady_clock::now() - start > within) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
  /// 0: it is not there, or the kernel's list of children left it out because another one ended.
  static pid_t worker(int replica) { return find_workers(getpid())[concat("work.", replica)]; }
  static pid_t kill_worker(int replica) {
    pid_t pid = 0;
    EXPECT_TRUE(happens([&] { return (pid = worker(replica)) > 0; }, kHangs));
    if (pid > 0) {
      EXPECT_EQ(kill(pid, SIGKILL), 0);
    }
    return pid;
  }
  static bool has_successor(int replica, pid_t pid) {
    const pid_t now = worker(replica);
    return now > 0 && now != pid;
  }
};

TEST_F(UnreadOutput, EveryDeathIsRepairedAndTheRunStopsAsAsked) {
  const UnreadFifo fifo;
  lines = Console::create(terminal.fd(), false, LogFile::open(fifo.path).value()).value();
  start();
  for (int kills = 0; kills < kKills; ++kills) {
    const int replica = kills % 2;
    const pid_t pid = kill_worker(replica);
    ASSERT_GT(pid, 0);
    ASSERT_TRUE(happens([&] { return has_successor(replica, pid); }, kHangs)) << kills;
  }
  run->stop(SIGINT);
  const RunOutcome& outcome = run->wait();
  EXPECT_EQ(exit_code(outcome), 130);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_TRUE(outcome.ended_by_itself());
  EXPECT_EQ(outcome.summary.figures.stages[kWork].restarts, static_cast<std::uint64_t>(kKills));
}

TEST_F(UnreadOutput, ControlWhoWaitsForItsLinesStartsNobodyUntilTheyAreRead) {
  lines = std::make_unique<WaitingLines>(terminal.fd());
  start();
  const pid_t pids[] = {kill_worker(0), kill_worker(1)};
  const auto both = [&] { return has_successor(0, pids[0]) && has_successor(1, pids[1]); };
  EXPECT_FALSE(happens(both, kAWhile));
  terminal.read_from_now_on();
  EXPECT_TRUE(happens(both, kHangs));
  run->stop(SIGINT);
  EXPECT_EQ(exit_code(run->wait()), 130);
}

}  // namespace
}  // namespace brigade
