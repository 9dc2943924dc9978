#include "pipeline/memory/prefault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "stages/detail/cache_file.h"
#include "tests/support/message_of.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

using Ranges = std::vector<PageRange>;

PlanRing ring_of(std::uint64_t slots, std::vector<PlanTensor> tensors) {
  PlanRing ring;
  ring.slots = slots;
  ring.tensors = std::move(tensors);
  return ring;
}

PlanTensor dense(std::uint64_t stride, std::uint64_t offset) {
  PlanTensor tensor;
  tensor.type = {"image", u8, {static_cast<std::int64_t>(stride)}};
  tensor.slot_stride = stride;
  tensor.offset = offset;
  return tensor;
}

TEST(FillOrder, GoesUpwardsThroughAllArraysAtOnce) {
  // 256 slots: two pages of headers, 256 pages of images; about 32 slots at a time.
  const PlanRing ring = ring_of(256, {dense(4096, 8192)});
  const Ranges order = fill_order(ring, 32 * (4096 + 32));
  EXPECT_EQ(order[0], (PageRange{0, 4096}));
  EXPECT_EQ(order[1], (PageRange{8192, 8192 + 32 * 4096}));
  EXPECT_EQ(order[2], (PageRange{8192 + 32 * 4096, 8192 + 64 * 4096}));
}

TEST(FillOrder, CoversEveryDenseArrayOnce) {
  const PlanRing ring = ring_of(1000, {dense(100, 32768), dense(8, 135168)});
  std::uint64_t bytes = 0;
  for (const PageRange& range : fill_order(ring, 4096)) {
    EXPECT_LT(range.first, range.last);
    EXPECT_EQ(range.first % 4096, 0u);
    bytes += range.last - range.first;
  }
  EXPECT_EQ(bytes, (8u + 25u + 2u) * 4096u);
}

TEST(FillOrder, LeavesRaggedArraysSparse) {
  PlanTensor ragged = dense(4096, 4096);
  ragged.type.shape = {up_to(4096)};
  PlanRing ring = ring_of(128, {ragged});
  ring.sparse = true;
  EXPECT_EQ(fill_order(ring, 1 << 20), (Ranges{{0, 4096}}));
  ring.sparse = false;  // a device has registered it: then every page must be there
  EXPECT_EQ(fill_order(ring, 1 << 20).back().last, 4096u + 128u * 4096u);
}

TEST(Prefault, GivesEveryRingItsMemory) {
  const Plan plan = small_plan();
  const auto segments = SharedSegments::create(plan, {});
  ASSERT_TRUE(segments.ok());
  {
    Prefault filler(plan, **segments, [](std::string message) { ADD_FAILURE() << message; });
    while (filler.filled_bytes() < plan.stages[0].ring.bytes) std::this_thread::yield();
  }
  struct stat status;
  fstat((*segments)->ring_fd(0, MapMode::read_write), &status);
  EXPECT_GE(static_cast<std::uint64_t>(status.st_blocks) * 512, plan.stages[0].ring.bytes);
}

TEST(Prefault, StopsEarlyWhenItGoes) {
  GraphBuilder graph;
  graph.producer("images", {{"image", u8, {1 << 20}}}).buffers = 2000;
  graph.consumer("sink", {"images"});
  const Plan plan = plan_of(graph);
  ASSERT_GT(plan.stages[0].ring.bytes, 1u << 30);
  const auto segments = SharedSegments::create(plan, {});
  ASSERT_TRUE(segments.ok());
  std::uint64_t filled = 0;
  {
    Prefault filler(plan, **segments, [](std::string) {});
    while (filler.filled_bytes() == 0) std::this_thread::yield();
    filled = filler.filled_bytes();
  }
  EXPECT_LT(filled, plan.stages[0].ring.bytes);
}

/// images (20 of a MiB) -> kept, a cache -> sink; `file`: of the cache.
Plan plan_of_cache(const std::string& file = "") {
  GraphBuilder graph;
  const Ports slots{{"image", u8, {1 << 20}}};
  graph.producer("images", slots).samples = 20;
  graph.transform("kept", {"images"}, slots).passed = {{"image", 0}};
  graph.type_of("kept").contract.cache = true;
  if (!file.empty()) graph.stage("kept").param_values = {{"file", ParamValue::scalar(file)}};
  graph.consumer("sink", {"kept"});
  return plan_of(graph);
}

TEST(Prefault, GivesACacheItsMemory) {
  const Plan plan = plan_of_cache();
  ASSERT_EQ(plan.stages[1].cache.slots, 20u);
  const auto segments = SharedSegments::create(plan, {});
  ASSERT_TRUE(segments.ok());
  const std::uint64_t all = plan.stages[0].ring.bytes + plan.stages[1].segment_bytes();
  Prefault filler(plan, **segments, [](std::string message) { ADD_FAILURE() << message; });
  while (filler.filled_bytes() < all) std::this_thread::yield();
  EXPECT_EQ(filler.filled_bytes(), all);
}

TEST(Prefault, LeavesTheFileOfACacheToTheDisk) {
  const Plan plan = plan_of_cache("/data/kept.cache");
  const int file = memfd_create("kept", MFD_CLOEXEC);
  const std::uint64_t bytes = kCacheHeaderBytes + plan.stages[1].cache.bytes;
  ASSERT_EQ(ftruncate(file, static_cast<off_t>(bytes)), 0);
  const auto segments = SharedSegments::create(plan, {}, {-1, file, -1});
  ASSERT_TRUE(segments.ok()) << segments.error().message;
  EXPECT_EQ((*segments)->cache_fd(1), file);
  const std::uint64_t all = plan.stages[0].ring.bytes + plan.stages[1].ring.bytes;
  {
    Prefault filler(plan, **segments, [](std::string message) { ADD_FAILURE() << message; });
    while (filler.filled_bytes() < all) std::this_thread::yield();
  }
  struct stat status;
  fstat(file, &status);
  EXPECT_EQ(status.st_blocks, 0);
  // What it keeps lies right behind its ring.
  (*segments)->ring_data(1)[plan.stages[1].ring.bytes] = std::byte{7};
  char first = 0;
  EXPECT_EQ(pread(file, &first, 1, kCacheHeaderBytes), 1);
  EXPECT_EQ(first, 7);
  close(file);
}

TEST(Prefault, ACacheNeedsTheFileThatItNames) {
  const Plan plan = plan_of_cache("/data/kept.cache");
  EXPECT_THAT(message_of(SharedSegments::create(plan, {})),
              testing::HasSubstr("/data/kept.cache is not open"));
}

}  // namespace
}  // namespace brigade
