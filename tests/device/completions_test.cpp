#include "device/completions.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <brigade/text.h>
#include "base/owned_fd.h"
#include "device/host_device.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

class CompletionsTest : public testing::Test {
 protected:
  /// The stream does not go on before `go_`.
  void hold_back(const OwnedStream& stream) {
    const auto wait = [this] {
      while (!go_) std::this_thread::yield();
    };
    ASSERT_TRUE(device_->compute(wait, stream.get()).ok());
  }
  /// Counts what has gone.
  std::shared_ptr<const void> kept() {
    return std::shared_ptr<const void>(this, [this](const void*) { ++gone_; });
  }
  OwnedStream stream() { return own<OwnedStream>(device_, device_->create_stream()).value(); }

  std::atomic<bool> go_{false};
  std::atomic<int> gone_{0};
  std::shared_ptr<HostDevice> device_ = HostDevice::create();
};

TEST_F(CompletionsTest, LetGoWhenTheEventHasPassedWhateverAnotherStreamDoes) {
  const OwnedStream slow = stream();
  const OwnedStream fast = stream();
  hold_back(slow);
  auto completions = Completions::create(device_).value();
  ASSERT_TRUE(completions->after(slow.get(), kept()).ok());
  EXPECT_EQ(gone_, 0);
  ASSERT_TRUE(completions->after(fast.get(), kept()).ok());
  while (gone_ < 1) std::this_thread::yield();
  go_ = true;
  while (gone_ < 2) std::this_thread::yield();
  EXPECT_TRUE(completions->check().ok());
}

TEST_F(CompletionsTest, TheirEndWaitsForAll) {
  const OwnedStream slow = stream();
  hold_back(slow);
  auto completions = Completions::create(device_, std::chrono::hours(1)).value();
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(completions->after(slow.get(), kept()).ok());
  std::thread later([this] { go_ = true; });
  completions.reset();
  EXPECT_EQ(gone_, 3);
  later.join();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(CompletionsTest, TheirEndSaysThatADeviceDoesNotAnswer) {
  const OwnedStream slow = stream();
  hold_back(slow);
  auto completions = Completions::create(device_, std::chrono::milliseconds(0)).value();
  ASSERT_TRUE(completions->after(slow.get(), kept()).ok());
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const OwnedFd to_read(ends[0]), stderr_now(ends[1]), stderr_before(dup(STDERR_FILENO));
  dup2(stderr_now.get(), STDERR_FILENO);
  std::string said;
  std::thread later([&] {  // the copies arrive when that has been said
    char line[1024];
    said.assign(line, static_cast<std::size_t>(read(to_read.get(), line, sizeof line)));
    go_ = true;
  });
  completions.reset();
  later.join();
  dup2(stderr_before.get(), STDERR_FILENO);
  EXPECT_EQ(
      said,
      concat(
          "brigade: warning: device host has not answered for 0 s: this process waits for copies "
          "before it frees their memory; check that `nvidia-smi` answers, or run `kill -9 ",
          getpid(), "` to end this process\n"));
  EXPECT_EQ(gone_, 1);
}

TEST_F(CompletionsTest, WithoutAnEventTheCallerWaitsForTheCopies) {
  HostDeviceOptions few;
  few.events = 2;  // one of them is kept for this
  device_ = HostDevice::create(few);
  const OwnedStream slow = stream();
  auto completions = Completions::create(device_).value();
  hold_back(slow);
  ASSERT_TRUE(completions->after(slow.get(), kept()).ok());
  std::atomic<int> gone_at_return{-1};
  std::thread caller([&] {
    EXPECT_TRUE(completions->after(slow.get(), kept()).ok());
    gone_at_return = gone_.load();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // for who would not wait
  EXPECT_EQ(gone_at_return, -1);
  EXPECT_EQ(gone_, 0);
  go_ = true;
  caller.join();
  completions.reset();
  EXPECT_EQ(gone_, 2);
}

TEST_F(CompletionsTest, OfALostDeviceGoAndSayWhy) {
  const OwnedStream slow = stream();
  hold_back(slow);
  auto completions = Completions::create(device_).value();
  ASSERT_TRUE(completions->after(slow.get(), kept()).ok());
  device_->lose("it fell off the bus");
  while (completions->check().ok()) std::this_thread::yield();
  EXPECT_EQ(message_of(completions->check()), "device host is lost: it fell off the bus");
  EXPECT_EQ(gone_, 1);
  EXPECT_FALSE(completions->after(slow.get(), kept()).ok());
  EXPECT_EQ(gone_, 2);
  go_ = true;
}

}  // namespace
}  // namespace brigade
