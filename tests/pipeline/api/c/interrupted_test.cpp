// A program in C comes back from calls that wait: by a signal, and where it asks for it in time.

#include <brigade/c.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "tests/pipeline/api/c/c_program.h"

namespace brigade {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;

/// What the callback sees and says.
struct Asked {
  std::atomic<int> calls = 0;
  std::atomic<int> yes_from = INT32_MAX;  // calls
  std::thread::id thread;

  static std::int32_t ask(void* context) {
    auto& asked = *static_cast<Asked*>(context);
    asked.thread = std::this_thread::get_id();
    return ++asked.calls >= asked.yes_from;
  }
  brigade_run_options options(std::uint64_t flags) {
    brigade_run_options made = run_options(flags);
    made.interrupted = &Asked::ask;
    made.interrupted_context = this;
    return made;
  }
};

/// Sends SIGALRM to the thread that makes it, every few milliseconds.
class Alarms {
 public:
  Alarms() {
    struct sigaction action {};
    action.sa_handler = [](int) { ++rung; };
    action.sa_flags = SA_RESTART;  // as most programs have it
    sigaction(SIGALRM, &action, &before_);
    thread_ = std::thread([this, to = pthread_self()] {
      while (!over_) {
        pthread_kill(to, SIGALRM);
        std::this_thread::sleep_for(milliseconds(3));
      }
    });
  }
  Alarms(const Alarms&) = delete;
  Alarms& operator=(const Alarms&) = delete;
  ~Alarms() {
    over_ = true;
    thread_.join();
    sigaction(SIGALRM, &before_, nullptr);
  }
  static inline std::atomic<int> rung = 0;

 private:
  struct sigaction before_ {};
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

/// The first batch takes 240 ms, and others as much.
std::string slow_graph() {
  return "epochs: 1000\nstages:\n"
         "  numbers: {producer: synthetic, params: {count: 8, shape: [3]}}\n"
         "  slow: {transform: delay, from: numbers, params: {ms: 60}, batch: 4, chunk: 4}\n"
         "  train: {consumer: application, from: slow, hold: 2}\n";
}

class CInterruptions : public testing::TestWithParam<std::uint64_t> {
 protected:
  /// How often the program was asked, more than time alone explains.
  int asked_beyond_time(const Opened& opened) {
    const auto before = steady_clock::now();
    asked_.calls = 0;
    brigade_batch_release(opened.take());
    const auto waited = std::chrono::duration_cast<milliseconds>(steady_clock::now() - before);
    return asked_.calls - static_cast<int>(waited.count() / 100);
  }
  Asked asked_;
};

TEST_P(CInterruptions, AreAskedForAtEverySignal) {
  const Opened opened(slow_graph(), asked_.options(GetParam()));
  EXPECT_LE(asked_beyond_time(opened), 0);  // the control: none comes
  Alarms alarms;
  EXPECT_GT(asked_beyond_time(opened), 0);
  EXPECT_EQ(asked_.thread, std::this_thread::get_id());
}

TEST_P(CInterruptions, AreNotAskedForByRunsThatDoNotWantThem) {
  const Opened opened(slow_graph(), GetParam());
  const Alarms alarms;
  const int before = Alarms::rung;
  brigade_batch_release(opened.take());  // and no signal ends the call
  EXPECT_GT(Alarms::rung, before);
  EXPECT_EQ(asked_.calls, 0);
}

TEST_P(CInterruptions, LeaveAnOutputAsItWas) {
  const Opened plain(slow_graph(), GetParam());
  const Opened opened(slow_graph(), asked_.options(GetParam()));
  int interrupted = 0;
  for (int batches = 0; batches < 3;) {
    asked_.yes_from = asked_.calls + 1;
    brigade_batch* batch = nullptr;
    const brigade_status status = brigade_output_next(opened.train, &batch);
    if (status == BRIGADE_OK) {
      brigade_batch* const expected = plain.take();
      EXPECT_EQ(values(batch), values(expected));
      brigade_batch_release(expected);
      brigade_batch_release(batch);
      ++batches;
      continue;
    }
    ASSERT_EQ(status, BRIGADE_ERROR_INTERRUPTED) << last_error();
    EXPECT_THAT(last_error(), HasSubstr("output \"train\": the wait for its next batch was inter"));
    EXPECT_EQ(batch, nullptr);
    EXPECT_EQ(brigade_output_ended(opened.train), 0);
    ++interrupted;
  }
  EXPECT_GT(interrupted, 0);
}

INSTANTIATE_TEST_SUITE_P(Of, CInterruptions, testing::Values(0, BRIGADE_IN_PROCESS),
                         [](const auto& value) { return value.param ? "Threads" : "Processes"; });

}  // namespace
}  // namespace brigade
