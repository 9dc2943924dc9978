// A program that writes beside a tensor of its slot is told (BRIGADE_POISON), and where it took it.

#include "pipeline/application/guarded_slot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include <brigade/text.h>
#include "pipeline/application/output_queue.h"
#include "tests/pipeline/application/feeding.h"

namespace brigade {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

struct Guards : Feeding {
  ~Guards() override { unsetenv(kPoisonVariable); }
  std::unique_ptr<brigade::Run> start_with(const char* poison, const std::string& tensors) {
    setenv(kPoisonVariable, poison, 1);
    return start(
        concat("stages:\n  tasks: {producer: application, chunk: 4, tensors: {", tensors,
               "}}\n  results: {consumer: application, from: {stage: tasks, batch: 4}}\n"));
  }
  /// Every byte of sample i is i, and one at `offset` from the end is changed.
  static Result<void> give_bytes(Input& tasks, std::uint8_t value, std::ptrdiff_t from_end) {
    Slot slot = std::move(**tasks.acquire());
    const auto x = slot["x"].as<std::uint8_t>();
    std::ranges::fill(x, value);
    x.data()[static_cast<std::ptrdiff_t>(x.size()) + from_end] = 77;
    return slot.submit();
  }
};

#ifndef __SANITIZE_ADDRESS__

TEST_P(Guards, TellWhoWritesBeyondTheEnd) {
  auto run = start_with("1", "x: {dtype: u8, shape: [5]}, y: {dtype: f32, shape: []}");
  Input tasks = run->input("tasks");
  const auto refused = give_bytes(tasks, 1, 0);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("input \"tasks\": sample 0 (taken at "),
                                             HasSubstr("guarded_slot_test.cpp:"),
                                             HasSubstr(") was written beyond the end of \"x\"")));
  EXPECT_THAT(give_bytes(tasks, 1, -6).error().message,
              HasSubstr("was written before the beginning of \"x\""));
}

TEST_P(Guards, ControlUnaskedAnotherSampleIsWritten) {
  auto run = start_with("0", "x: {dtype: u8, shape: [5]}");
  Input tasks = run->input("tasks");
  std::optional<Slot> second;
  {
    Slot first = std::move(**tasks.acquire());
    second = std::move(*tasks.acquire());
    std::ranges::fill((*second)["x"].as<std::uint8_t>(), 2);
    std::ranges::fill(first["x"].as<std::uint8_t>(), 1);
    first["x"].as<std::uint8_t>().data()[5] = 77;
    EXPECT_TRUE(first.submit().ok());
  }
  EXPECT_EQ((*second)["x"].as<std::uint8_t>()[0], 77);
}

#else

TEST_P(Guards, ShowItToTheSanitizer) {
  if (!GetParam()) GTEST_SKIP() << "threads are enough";
  EXPECT_DEATH(
      {
        auto run = start_with("1", "x: {dtype: u8, shape: [5]}");
        Input tasks = run->input("tasks");
        static_cast<void>(give_bytes(tasks, 1, 0));
      },
      "heap-buffer-overflow");
}

#endif

TEST_P(Guards, LeaveWhatWasWritten) {
  auto run = start_with("1", "x: {dtype: u8, shape: [<=5, 2]}, y: {dtype: f32, shape: []}");
  Input tasks = run->input("tasks");
  std::thread feeder([&] {
    for (std::int64_t i = 0; i < 400; ++i) {
      Slot slot = std::move(**tasks.acquire());
      ASSERT_TRUE(slot["x"].resize({i % 6, 2}).ok());
      std::ranges::fill(slot["x"].as<std::uint8_t>(), static_cast<std::uint8_t>(i));
      slot["y"].as<float>()[0] = static_cast<float>(i);
      if (i % 7 == 3) continue;
      ASSERT_TRUE(slot.submit().ok());
    }
    EXPECT_TRUE(tasks.close().ok());
  });
  std::int64_t samples = 0;
  for (const Batch& batch : run->output("results")) {
    for (std::int64_t s = 0; s < batch.size(); ++s, ++samples) {
      const auto i = static_cast<std::int64_t>(batch.sample(s).index);
      EXPECT_EQ(batch.row(s)["x"].shape(), (Shape{i % 6, 2}));
      EXPECT_THAT(batch.row(s)["x"].as<std::uint8_t>(), Each(static_cast<std::uint8_t>(i)));
      EXPECT_EQ(batch.row(s)["y"].as<float>()[0], static_cast<float>(i));
    }
  }
  feeder.join();
  EXPECT_EQ(samples, 400 - 57);
  EXPECT_TRUE(run->wait().ok());
}

INSTANTIATE_TEST_SUITE_P(All, Guards, testing::Bool(), threads_or_processes);

}  // namespace
}  // namespace brigade
