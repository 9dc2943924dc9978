#include "device/host_device.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <latch>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <brigade/text.h>
#include "tests/support/message_of.h"

namespace brigade {
namespace {

using std::chrono::milliseconds;

/// A device with a stream, an event, and memory for `bytes`.
struct Bench {
  explicit Bench(const HostDeviceOptions& options = {})
      : device(HostDevice::create(options)),
        memory(own<DeviceMemory>(device, device->allocate(bytes.size())).value()),
        stream(own<OwnedStream>(device, device->create_stream()).value()),
        event(own<OwnedEvent>(device, device->create_event()).value()) {}

  Result<void> copy() {
    BRIGADE_TRY(device->copy_to_device(memory.get(), bytes.data(), bytes.size(), stream.get()));
    return device->record(event.get(), stream.get());
  }

  /// What the stream is told after this waits until `go` is true.
  Result<void> hold_until(std::atomic<bool>& go) {
    const auto wait = [&go] {
      while (!go) std::this_thread::yield();
    };
    return device->compute(wait, stream.get());
  }

  std::vector<std::byte> bytes = std::vector<std::byte>(1000, std::byte{7});
  std::shared_ptr<HostDevice> device;
  DeviceMemory memory;
  OwnedStream stream;
  OwnedEvent event;
};

TEST(HostDevice, AnEventPassesOnlyWhenTheCopiesBeforeItAreDone) {
  Bench bench;
  std::atomic<bool> go{false};
  ASSERT_TRUE(bench.hold_until(go).ok());
  ASSERT_TRUE(bench.copy().ok());
  EXPECT_FALSE(bench.device->passed(bench.event.get()).value());
  go = true;
  EXPECT_TRUE(bench.device->wait(bench.event.get()).ok());
  EXPECT_TRUE(bench.device->passed(bench.event.get()).value());
}

TEST(HostDevice, SharedMemoryIsOfTheDeviceAndCountsAsSuch) {
  Bench bench({.memory_bytes = 10'000});
  EXPECT_EQ(message_of(bench.device->make_shared(10'001)),
            "device host: shared device memory of 9.8 KiB does not fit: the limit is 9.8 "
            "KiB, 0 B are in use");
  const OwnedFd fd = bench.device->make_shared(5000).value();
  {
    const auto mapped =
        own<SharedDeviceMemory>(bench.device,
                                bench.device->map_shared(fd.get(), 5000, HostAccess::read_write))
            .value();
    EXPECT_EQ(bench.device->allocated_bytes(), 6000u);
    EXPECT_FALSE(bench.device->map_shared(fd.get(), 5000, HostAccess::read_only).ok());
  }
  EXPECT_EQ(bench.device->allocated_bytes(), 1000u);
}

/// The stream's thread waits in the parent; the child has no such thread to join.
TEST(HostDevice, AForkedChildLeavesWhatIsItsParents) {
  std::optional<Bench> bench(std::in_place);
  ASSERT_TRUE(bench->copy().ok());
  ASSERT_TRUE(bench->device->wait(bench->event.get()).ok());
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    bench.reset();
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(bench->copy().ok());
}

/// A process that is killed with a copy on its way: what it was told to wait for had not passed.
TEST(HostDevice, WhatAKilledProcessWroteIsThereOnlyAfterItsEvent) {
  for (const bool waits : {true, false}) {
    const OwnedFd fd = HostDevice::create()->make_shared(1000).value();
    const pid_t child = fork();
    if (child == 0) {
      Bench writer({.delay = waits ? milliseconds(0) : std::chrono::minutes(1)});
      const auto mapped =
          own<SharedDeviceMemory>(writer.device,
                                  writer.device->map_shared(fd.get(), 1000, HostAccess::read_write))
              .value();
      bool told = writer.device
                      ->copy_to_device(mapped.get(), writer.bytes.data(), 1000, writer.stream.get())
                      .ok();
      told = told && writer.device->record(writer.event.get(), writer.stream.get()).ok();
      if (told && waits) told = writer.device->wait(writer.event.get()).ok();
      if (told) raise(SIGKILL);
      _exit(1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    const auto reader = HostDevice::create();
    const auto mapped =
        own<SharedDeviceMemory>(reader, reader->map_shared(fd.get(), 1000, HostAccess::read_only))
            .value();
    std::vector<std::byte> back(1000);
    ASSERT_TRUE(reader->copy_to_host(back.data(), mapped.get(), 1000, nullptr).ok());
    EXPECT_EQ(back, std::vector<std::byte>(1000, waits ? std::byte{7} : std::byte{0}));
  }
}

TEST(HostDevice, StreamsOvertakeEachOtherUnlessOneIsMadeToWait) {
  Bench bench;
  const auto other = own<OwnedStream>(bench.device, bench.device->create_stream()).value();
  const auto done = own<OwnedEvent>(bench.device, bench.device->create_event()).value();
  std::atomic<bool> go{false};
  std::atomic<int> seen{0};
  ASSERT_TRUE(bench.hold_until(go).ok());
  ASSERT_TRUE(bench.copy().ok());
  ASSERT_TRUE(bench.device->compute([&] { seen = 1; }, other.get()).ok());
  ASSERT_TRUE(bench.device->record(done.get(), other.get()).ok());
  ASSERT_TRUE(bench.device->wait(done.get()).ok());
  EXPECT_EQ(seen, 1);  // behind a copy that has not begun

  ASSERT_TRUE(bench.device->make_wait(other.get(), bench.event.get()).ok());
  ASSERT_TRUE(bench.device->compute([&] { seen = 2; }, other.get()).ok());
  ASSERT_TRUE(bench.device->record(done.get(), other.get()).ok());
  EXPECT_FALSE(bench.device->passed(done.get()).value());
  EXPECT_EQ(seen, 1);
  go = true;
  ASSERT_TRUE(bench.device->wait(done.get()).ok());
  EXPECT_EQ(seen, 2);
}

TEST(HostDevice, NoticesMemoryThatIsWrittenBeforeTheEvent) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "it is a data race";
#endif
  Bench bench;
  std::latch written(1);
  ASSERT_TRUE(bench.device->compute([&] { written.wait(); }, bench.stream.get()).ok());
  ASSERT_TRUE(bench.copy().ok());
  bench.bytes[500] = std::byte{8};
  written.count_down();
  EXPECT_EQ(message_of(bench.device->wait(bench.event.get())),
            "device host is lost: memory was written while it was being copied: it was returned "
            "before the event");
}

TEST(HostDevice, WritingAfterTheEventIsFine) {
  HostDeviceOptions late;
  late.delay = milliseconds(5);
  Bench bench(late);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(bench.copy().ok());
    ASSERT_TRUE(bench.device->wait(bench.event.get()).ok());
    bench.bytes[500] = std::byte(i);
  }
}

TEST(HostDevice, NoticesPinnedMemoryThatGoesBeforeTheEvent) {
  std::vector<std::byte> source(1000);  // goes after the stream
  std::latch gone(1);
  Bench bench({.checks = false});
  ASSERT_TRUE(bench.device->compute([&] { gone.wait(); }, bench.stream.get()).ok());
  auto pinned = own<PinnedMemory>(bench.device, bench.device->allocate_pinned(1000)).value();
  {
    const auto registered = own<RegisteredMemory>(
        bench.device, bench.device->register_host(source.data(), 1000, HostAccess::read_only));
    ASSERT_TRUE(registered.ok());
    EXPECT_EQ(bench.device->pinned_bytes(), 2000u);
    ASSERT_TRUE(
        bench.device->copy_to_device(bench.memory.get(), source.data(), 1000, bench.stream.get())
            .ok());
  }
  gone.count_down();
  EXPECT_EQ(message_of(bench.device->record(bench.event.get(), bench.stream.get())),
            "device host is lost: memory was freed while it was being copied");
  pinned = {};
  EXPECT_EQ(bench.device->pinned_bytes(), 0u);
}

TEST(HostDevice, ACopyThatFailsMidwayIsSaidByWhoeverWaitsAndByAllThatComesAfter) {
  HostDeviceOptions fails;
  fails.fail_copy = 1;
  Bench bench(fails);
  ASSERT_TRUE(bench.copy().ok());
  ASSERT_TRUE(bench.device->wait(bench.event.get()).ok());
  static_cast<void>(bench.copy());
  const char* const text = "device host is lost: a copy failed midway";
  EXPECT_EQ(message_of(bench.device->wait(bench.event.get())), text);
  EXPECT_EQ(message_of(bench.device->passed(bench.event.get())), text);
  EXPECT_EQ(message_of(bench.device->allocate(1)), text);
}

TEST(HostDevice, ALossEndsEveryWait) {
  Bench bench;
  std::atomic<bool> go{false};
  ASSERT_TRUE(bench.hold_until(go).ok());
  ASSERT_TRUE(bench.copy().ok());
  std::thread other([&] { bench.device->lose("it fell off the bus"); });
  EXPECT_EQ(message_of(bench.device->wait(bench.event.get())),
            "device host is lost: it fell off the bus");
  other.join();
  go = true;
}

TEST(HostDevice, HasAsMuchMemoryAsItIsTold) {
  HostDeviceOptions small;
  small.memory_bytes = 1500;
  small.pinned_bytes = 0;
  Bench bench(small);
  EXPECT_EQ(bench.device->allocated_bytes(), 1000u);
  EXPECT_EQ(
      message_of(bench.device->allocate(501)),
      "device host: device memory of 501 B does not fit: the limit is 1.5 KiB, 1000 B are in use");
  EXPECT_EQ(message_of(bench.device->allocate_pinned(1)),
            "device host: pinned memory of 1 B does not fit: the limit is 0 B, 0 B are in use");
}

}  // namespace
}  // namespace brigade
