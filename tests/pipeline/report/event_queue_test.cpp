#include "pipeline/report/event_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

namespace brigade {
namespace {

struct Queue : testing::Test {
  std::shared_ptr<Events::State> queue = Events::State::create().value();

  std::optional<Event> next() { return queue->next(-1).value(); }
  bool is_ready() const {
    pollfd ready{queue->descriptor(), POLLIN, 0};
    return poll(&ready, 1, 0) == 1;
  }
};

TEST_F(Queue, GivesEventsInOrderAndThenTheEnd) {
  queue->begin();
  EXPECT_FALSE(is_ready());
  EXPECT_EQ(queue->next(0).error().refusal, Refusal::interrupted) << "nothing now";
  queue->note("one");
  queue->warn("two\n\x1b[31m");
  queue->end();
  EXPECT_TRUE(is_ready());
  const auto one = next();
  ASSERT_TRUE(one);
  EXPECT_EQ(one->message, "one");
  EXPECT_GT(one->time_ns, 0);
  EXPECT_EQ(next()->message, "two\\n\\x1b[31m");
  EXPECT_TRUE(is_ready()) << "the end is there to be taken";
  EXPECT_FALSE(next());
  EXPECT_FALSE(next()) << "again";
  queue->begin();
  EXPECT_FALSE(is_ready()) << "another run has begun";
}

TEST_F(Queue, AReaderWaitsForAnEvent) {
  queue->begin();
  std::thread teller([&] { queue->note("one"); });
  EXPECT_EQ(next()->message, "one");
  teller.join();
  EXPECT_FALSE(is_ready());
}

TEST_F(Queue, TakesEventsOfSeveralThreadsEachInItsOrder) {
  constexpr int kThreads = 4, kEvents = 500;  // which all fit
  queue->begin();
  std::vector<std::thread> tellers;
  for (int teller = 0; teller < kThreads; ++teller)
    tellers.emplace_back([this, teller] {
      for (int i = 0; i < kEvents; ++i) queue->tell({.replica = teller, .restarts = i});
    });
  std::vector<int> came(kThreads);
  for (int i = 0; i < kThreads * kEvents; ++i) {
    const auto event = next();
    EXPECT_EQ(event->lost, 0u);
    EXPECT_EQ(event->restarts, came.at(static_cast<std::size_t>(event->replica))++);
  }
  for (std::thread& teller : tellers) teller.join();
  queue->end();
  EXPECT_FALSE(next());
}

TEST_F(Queue, CountsWhatNobodyTakesAndKeepsRoomForWhatMatters) {
  queue->begin();
  Event printed{.kind = EventKind::printed, .message = std::string(1000, 'x')};
  for (std::size_t i = 0; i < kEventsWaitingBytesMax / 1000; ++i) queue->tell(printed);
  queue->tell({.kind = EventKind::died, .level = EventLevel::warning});
  queue->end();
  std::uint64_t came = 0;
  std::uint64_t lost = 0;
  std::optional<Event> last;
  while (auto event = next()) {
    came += event->kind == EventKind::printed;
    lost += event->lost;
    last = std::move(event);
  }
  EXPECT_EQ(last->kind, EventKind::died);
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(came + lost, kEventsWaitingBytesMax / 1000);
}

TEST_F(Queue, AForkedChildHasNone) {
  queue->begin();
  queue->note("one");
  const pid_t child = fork();
  if (child == 0) {
    const bool none = !queue->next(-1).ok();
    queue.reset();
    _exit(none ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(next()->message, "one") << "the parent's";
}

}  // namespace
}  // namespace brigade
