// Batches of a program on their way to a device that copies late, while the program lets go of them
// and the graph fills their memory again (BRIGADE_POISON does so at once).

#include "pipeline/application/batch_uploads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <brigade/text.h>
#include "device/host_device.h"
#include "pipeline/api/memory_of_run.h"
#include "tests/support/message_of.h"
#include "tests/support/program.h"

namespace brigade {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kUploadedSamples = 16;

/// 63 batches of 16 samples, each of 300 numbers: its id.
class BatchUploadsTest : public testing::TestWithParam<bool> {
 protected:
  BatchUploadsTest() { setenv("BRIGADE_POISON", "1", 1); }
  ~BatchUploadsTest() override { unsetenv("BRIGADE_POISON"); }

  void start(HostDeviceOptions options, Pin pin = Pin::yes, const std::string& more = "") {
    run_ = program_.start(
        "stages:\n"
        "  numbers: {producer: synthetic, params: {count: 1000, shape: [300]}}\n"
        "  work: {transform: passthrough, from: numbers, replicas: 2, batch: 16}\n"
        "  train: {consumer: application, from: work}\n" +
            more,
        GetParam());
    train_.emplace(run_->output("train"));
    device_ = HostDevice::create(options);
    uploads_ = BatchUploads::open(MemoryOfRun::of(*run_), device_, pin).value();
  }
  static HostDeviceOptions late() {
    HostDeviceOptions options;
    options.delay = std::chrono::milliseconds(2);
    return options;
  }
  /// Where the last batch is less than whole the rest of `to` stays.
  Result<std::unique_ptr<BatchUpload>> copy(const Batch& batch, std::vector<std::int64_t>& to) {
    return copy(batch, to, std::make_shared<const Batch>(batch), nullptr);
  }
  Result<std::unique_ptr<BatchUpload>> copy(const Batch& batch, std::vector<std::int64_t>& to,
                                            Lease lease, DeviceStream user) {
    const TensorView data = batch["data"];
    to.resize(static_cast<std::size_t>(data.shape().elements()));
    const BatchUploads::Part part{static_cast<const std::byte*>(data.data()),
                                  to.size() * sizeof(std::int64_t),
                                  DeviceAddress{reinterpret_cast<std::uint64_t>(to.data())}};
    return uploads_->copy({&part, 1}, user, std::move(lease));
  }
  /// Of batch `number`.
  static void expect_ids(const std::vector<std::int64_t>& copied, std::int64_t number) {
    for (std::size_t i = 0; i < copied.size(); ++i)
      ASSERT_EQ(copied[i], number * kUploadedSamples + static_cast<std::int64_t>(i / 300));
  }

  const Program program_{};
  std::unique_ptr<brigade::Run> run_;
  std::optional<Output> train_;
  std::shared_ptr<HostDevice> device_;
  std::shared_ptr<BatchUploads> uploads_;
};

TEST_P(BatchUploadsTest, BatchesThatWereLetGoOfArriveWhole) {
  start(late());
  EXPECT_THAT(uploads_->report(), HasSubstr("for device host in "));
  EXPECT_GT(device_->pinned_bytes(), 0u);
  std::int64_t number = 0;
  std::vector<std::int64_t> copied, ahead;
  std::unique_ptr<BatchUpload> upload = copy(*train_->next().value(), copied).value();
  while (std::optional<Batch> batch = train_->next().value()) {
    auto next = copy(*batch, ahead).value();
    batch.reset();
    ASSERT_TRUE(upload->await(nullptr).ok());
    expect_ids(copied, number++);
    upload = std::move(next);
    copied.swap(ahead);
  }
  ASSERT_TRUE(upload->wait().ok());
  expect_ids(copied, number);
  EXPECT_EQ(number, 62);
}

TEST_P(BatchUploadsTest, ControlWhatIsReleasedAtOnceIsSeen) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "it is a data race";
#endif
  start(late());
  const std::string lost =
      "device host is lost: memory was written while it was being copied: it was returned before "
      "the event";
  std::vector<std::int64_t> copied;
  std::string said;  // a copy that begins after its memory was given back sees no change
  for (int i = 0; i < 60 && said.empty(); ++i) {
    const auto upload = copy(*train_->next().value(), copied, nullptr, nullptr);
    const Result<void> done = upload.ok() ? (*upload)->wait() : Result<void>(upload.error());
    if (!done) said = done.error().message;
  }
  EXPECT_EQ(said, lost);
  EXPECT_EQ(message_of(copy(*train_->next().value(), copied)), lost);
}

TEST_P(BatchUploadsTest, AnUploadThatNobodyWaitedForEndsBeforeItsTarget) {
  start(late());
  std::vector<std::int64_t> copied;
  copy(*train_->next().value(), copied).value().reset();
  expect_ids(copied, 0);
}

TEST_P(BatchUploadsTest, GoOnWhenTheRunIsGone) {
  start(late());
  std::optional<Batch> batch = train_->next().value();
  train_.reset();
  run_.reset();
  std::vector<std::int64_t> copied;
  const auto upload = copy(*batch, copied).value();
  batch.reset();
  uploads_.reset();  // the batch was the last to hold the run's memory, but for it
  ASSERT_TRUE(upload->wait().ok());
  expect_ids(copied, 0);
  EXPECT_EQ(device_->pinned_bytes(), 0u);
}

TEST_P(BatchUploadsTest, ACopyThatFailsGivesItsBatchBack) {
  HostDeviceOptions fails = late();
  fails.fail_copy = 1;
  start(fails);
  std::vector<std::int64_t> first, second;
  ASSERT_TRUE(copy(*train_->next().value(), first).value()->wait().ok());
  expect_ids(first, 0);
  const auto bad = copy(*train_->next().value(), second);  // it may notice already
  EXPECT_EQ(message_of(bad.ok() ? (*bad)->wait() : Result<void>(bad.error())),
            "device host is lost: a copy failed midway");
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(train_->next().ok());  // nothing is held for ever
}

TEST_P(BatchUploadsTest, ARingThatSeveralOutputsReadIsPinnedOnce) {
  start(late());
  const std::uint64_t of_one = device_->pinned_bytes();
  uploads_.reset();
  train_.reset();
  run_.reset();
  start(late(), Pin::yes, "  other: {consumer: application, from: work}\n");
  EXPECT_EQ(device_->pinned_bytes(), of_one);
}

TEST_P(BatchUploadsTest, WhatASoleReaderMayWriteIsPinnedSoWhereItCannotBeToBeRead) {
  HostDeviceOptions options = late();
  options.read_only_refused = true;
  for (const char* const more : {"", "  other: {consumer: application, from: work}\n"}) {
    start(options, Pin::automatic, more);
    EXPECT_THAT(uploads_->report(), *more == 0
                                        ? HasSubstr("for device host in ")
                                        : HasSubstr("copies from pageable memory, which is slower: "
                                                    "device host: cannot pin read-only memory"));
    std::vector<std::int64_t> copied;
    ASSERT_TRUE(copy(*train_->next().value(), copied).value()->wait().ok());
    expect_ids(copied, 0);
    uploads_.reset();
    train_.reset();
    run_.reset();
  }
}

TEST_P(BatchUploadsTest, ManyThreadsCopyAtOnce) {
  start(late(), Pin::no);
  std::vector<std::thread> threads;
  std::vector<Batch> batches;
  for (int i = 0; i < 4; ++i) batches.push_back(*train_->next().value());
  for (std::int64_t i = 0; i < 4; ++i)
    threads.emplace_back([this, i, &batches] {
      for (int turn = 0; turn < 5; ++turn) {
        std::vector<std::int64_t> copied;
        const auto upload = copy(batches[static_cast<std::size_t>(i)], copied).value();
        EXPECT_TRUE(upload->wait().ok());
        expect_ids(copied, i);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(BatchUploadsTest, AChildThatIsForkedCopiesNothingAndEnds) {
  start(late());
  std::vector<std::int64_t> copied;
  const Batch batch = *train_->next().value();
  auto upload = copy(batch, copied).value();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    std::vector<std::int64_t> there;
    const bool refused = !copy(batch, there).ok() && !upload->wait().ok() &&
                         !upload->await(nullptr).ok() &&
                         !BatchUploads::open(MemoryOfRun::of(*run_), device_, Pin::no);
    upload.reset();
    uploads_.reset();
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(upload->wait().ok());
  expect_ids(copied, 0);
}

INSTANTIATE_TEST_SUITE_P(All, BatchUploadsTest, testing::Bool(), threads_or_processes);

}  // namespace
}  // namespace brigade
