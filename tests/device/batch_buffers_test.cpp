#include "device/batch_buffers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <thread>
#include <vector>

#include "device/host_device.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

constexpr std::size_t kBatchBytes = 1000;

/// Batches of a late device, each of one value, and the values that the device has computed with.
class BatchBuffersTest : public testing::Test {
 protected:
  void create(std::size_t buffers, std::uint64_t fail_copy = ~0ull) {
    HostDeviceOptions options;
    options.delay = std::chrono::microseconds(300);
    options.fail_copy = fail_copy;
    device_ = HostDevice::create(options);
    compute_ = own<OwnedStream>(device_, device_->create_stream()).value();
    buffers_ = BatchBuffers::create(Uploader::create(device_, Pin::no, {}).value(), buffers,
                                    kBatchBytes, 2)
                   .value();
  }
  /// A batch in two parts, which stays as it is while its lease is out.
  Result<std::vector<DeviceAddress>> bring(int value) {
    auto batch = std::make_shared<std::vector<std::byte>>(kBatchBytes, std::byte(value));
    const BatchBuffers::Part parts[] = {{batch->data(), 10}, {batch->data() + 10, 990}};
    ++out_;
    return buffers_->bring(parts, compute_.get(), Lease(batch.get(), [this, batch](const void*) {
                             std::fill(batch->begin(), batch->end(), std::byte{0xEE});
                             --out_;
                           }));
  }
  void compute(
      const std::vector<DeviceAddress>& at, std::function<void()> before = [] {}) {
    const auto look = [this, at, before = std::move(before)] {
      before();
      for (const auto& [place, bytes] : {std::pair(at[0], 10), std::pair(at[1], 990)}) {
        const auto* const values = reinterpret_cast<const std::byte*>(place);
        seen_.insert(seen_.end(), values, values + bytes);
      }
    };
    ASSERT_TRUE(device_->compute(look, compute_.get()).ok());
  }
  void wait() {
    const auto event = own<OwnedEvent>(device_, device_->create_event()).value();
    ASSERT_TRUE(device_->record(event.get(), compute_.get()).ok());
    ASSERT_TRUE(device_->wait(event.get()).ok());
  }

  std::atomic<int> out_{0};
  std::vector<std::byte> seen_;
  std::shared_ptr<HostDevice> device_;
  OwnedStream compute_;
  std::unique_ptr<BatchBuffers> buffers_;
};

TEST_F(BatchBuffersTest, EachIsComputedWithWholeWhoeverIsLate) {
  for (const std::size_t buffers : {1, 2, 3}) {
    create(buffers);
    seen_.clear();
    std::vector<std::byte> expected;
    for (int batch = 0; batch < 20; ++batch) {
      compute(bring(batch).value(), [batch] {
        if (batch % 3 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      });
      expected.insert(expected.end(), kBatchBytes, std::byte(batch));
    }
    wait();
    EXPECT_EQ(seen_, expected) << buffers;
    buffers_.reset();
    EXPECT_EQ(out_, 0);
  }
}

TEST_F(BatchBuffersTest, TheNextIsCopiedWhileTheDeviceComputes) {
  create(2);
  std::latch goes_on(1);
  compute(bring(1).value(), [&] { goes_on.wait(); });
  compute(bring(2).value());
  while (out_ > 0) std::this_thread::yield();  // both have been copied, and none computed with
  compute(bring(3).value());                   // into the first one's buffer
  EXPECT_EQ(out_, 1);
  goes_on.count_down();
  wait();
  EXPECT_EQ(seen_[2 * kBatchBytes], std::byte{3});
  EXPECT_EQ(seen_[kBatchBytes - 1], std::byte{1});
}

TEST_F(BatchBuffersTest, ControlABufferThatIsWrittenTooEarlyIsSeen) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "it is a data race";
#endif
  create(1);
  const auto at = bring(1).value();
  while (out_ > 0) std::this_thread::yield();
  std::latch written(1);
  compute(at, [&] { written.wait(); });
  const auto nobodys = own<OwnedEvent>(device_, device_->create_event()).value();
  const auto uploader = Uploader::create(device_, Pin::no, {}).value();
  const std::vector<std::byte> next(kBatchBytes, std::byte{2});
  ASSERT_TRUE(uploader->begin_behind(nobodys.get()).ok());
  ASSERT_TRUE(uploader->copy(at[0], next.data(), 10).ok());
  ASSERT_TRUE(uploader->finish(compute_.get(), nullptr).ok());
  ASSERT_TRUE(uploader->wait().ok());
  written.count_down();
  wait();
  EXPECT_EQ(seen_[0], std::byte{2});
}

TEST_F(BatchBuffersTest, WithoutALeaseItWaitsForTheCopy) {
  create(2);
  std::vector<std::byte> batch(kBatchBytes, std::byte{5});
  const BatchBuffers::Part part{batch.data(), batch.size()};
  const auto at = buffers_->bring({&part, 1}, nullptr, nullptr).value();
  batch.assign(batch.size(), std::byte{0});  // it has been read
  EXPECT_TRUE(device_->check().ok());
  EXPECT_EQ(*reinterpret_cast<const std::byte*>(at[0]), std::byte{5});
}

TEST_F(BatchBuffersTest, ALossIsSaidAndItsLeasesComeBack) {
  create(2, 3);
  ASSERT_TRUE(bring(1).ok());
  if (bring(2).ok())  // else it has noticed the loss itself
    while (buffers_->uploader().check().ok()) std::this_thread::yield();
  const auto lost = bring(3);
  EXPECT_EQ(message_of(lost), "device host is lost: a copy failed midway");
  EXPECT_EQ(lost.error().refusal, Refusal::lost);
  buffers_.reset();
  EXPECT_EQ(out_, 0);
}

}  // namespace
}  // namespace brigade
