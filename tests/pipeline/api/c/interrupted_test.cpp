// A program in C comes back from calls that wait: by a signal, and where it asks for it in time.

#include <brigade/c.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/pipeline/api/c/c_program.h"
#include "tests/support/temporary_folder.h"

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

TEST_P(CInterruptions, EndTheWaitForTheEnd) {
  const Opened opened(graph_yaml("epochs: 1000000\n"), asked_.options(GetParam()));
  brigade_batch_release(opened.take());
  asked_.yes_from = 0;
  const char* json = nullptr;
  EXPECT_EQ(brigade_run_wait(opened.run), BRIGADE_ERROR_INTERRUPTED);
  EXPECT_THAT(last_error(), HasSubstr("the end of the run was interrupted"));
  EXPECT_EQ(brigade_run_summary(opened.run, &json), BRIGADE_ERROR_INTERRUPTED);
  EXPECT_EQ(json, nullptr);
  brigade_batch_release(opened.take());  // it goes on
  asked_.yes_from = INT32_MAX;
  EXPECT_EQ(brigade_run_stop(opened.run), BRIGADE_OK);
  EXPECT_EQ(brigade_run_stop(opened.run), BRIGADE_OK);
  EXPECT_EQ(brigade_run_wait(opened.run), BRIGADE_OK) << last_error();
  EXPECT_EQ(brigade_run_summary(opened.run, &json), BRIGADE_OK);
}

/// A worker program that makes no device's memory, and hangs.
TEST(CInterruption, EndsTheStartWhileADevicesMemoryIsMade) {
  const TemporaryFolder folder;
  const std::string hangs = folder.write("maker", "#!/bin/sh\nexec sleep 1000\n");
  std::filesystem::permissions(hangs, std::filesystem::perms::owner_all);
  const brigade_app_options host{sizeof host, 0, nullptr, hangs.c_str()};
  brigade_app* app = nullptr;
  ASSERT_EQ(brigade_app_open(&host, &app), BRIGADE_OK) << last_error();
  brigade_graph* graph = nullptr;
  ASSERT_EQ(brigade_graph_from_text(
                "stages:\n"
                "  numbers: {producer: synthetic, params: {shape: [4], name: x}, batch: 20}\n"
                "  up: {transform: to_device, from: numbers, params: {tensor: x}, batch: 20,"
                " device: host, memory: device}\n"
                "  down: {transform: from_device, from: up, params: {tensor: x}, batch: 20,"
                " device: host}\n"
                "  train: {consumer: application, from: down}\n",
                "test", &graph),
            BRIGADE_OK);
  Asked asked;
  asked.yes_from = 2;
  const brigade_run_options options = asked.options(0);
  brigade_run* run = nullptr;
  EXPECT_EQ(brigade_run_start(graph, app, &options, &run), BRIGADE_ERROR_INTERRUPTED);
  EXPECT_THAT(last_error(),
              HasSubstr("up -> down: the run was stopped before the memory was allocated"));
  EXPECT_EQ(asked.calls, 2);
  EXPECT_EQ(asked.thread, std::this_thread::get_id());
  EXPECT_EQ(run, nullptr);
  brigade_graph_close(graph);
  brigade_app_close(app);
}

INSTANTIATE_TEST_SUITE_P(Of, CInterruptions, testing::Values(0, BRIGADE_IN_PROCESS),
                         [](const auto& value) { return value.param ? "Threads" : "Processes"; });

}  // namespace
}  // namespace brigade
