#include "pipeline/process/pool_filler.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "pipeline/plan/plan_json.h"
#include "stages/api/cache_file.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

using Ranges = std::vector<PageRange>;

PlanPool pool_of(std::uint64_t rows, std::vector<PlanTensor> tensors) {
  PlanPool pool;
  pool.rows = rows;
  pool.tensors = std::move(tensors);
  return pool;
}

PlanTensor dense(std::uint64_t stride, std::uint64_t offset) {
  PlanTensor tensor;
  tensor.type = {"image", u8, {static_cast<std::int64_t>(stride)}};
  tensor.row_stride = stride;
  tensor.offset = offset;
  return tensor;
}

TEST(FillOrder, GoesUpwardsThroughAllArraysAtOnce) {
  // 256 rows: two pages of headers, 256 pages of images; about 32 rows at a time.
  const PlanPool pool = pool_of(256, {dense(4096, 8192)});
  const Ranges order = fill_order(pool, 32 * (4096 + 32));
  EXPECT_EQ(order[0], (PageRange{0, 4096}));
  EXPECT_EQ(order[1], (PageRange{8192, 8192 + 32 * 4096}));
  EXPECT_EQ(order[2], (PageRange{8192 + 32 * 4096, 8192 + 64 * 4096}));
}

TEST(FillOrder, CoversEveryDenseArrayOnce) {
  const PlanPool pool = pool_of(1000, {dense(100, 32768), dense(8, 135168)});
  std::uint64_t bytes = 0;
  for (const PageRange& range : fill_order(pool, 4096)) {
    EXPECT_LT(range.first, range.last);
    EXPECT_EQ(range.first % 4096, 0u);
    bytes += range.last - range.first;
  }
  EXPECT_EQ(bytes, (8u + 25u + 2u) * 4096u);
}

TEST(FillOrder, LeavesRaggedArraysSparse) {
  PlanTensor ragged = dense(4096, 4096);
  ragged.type.shape = {up_to(4096)};
  PlanPool pool = pool_of(128, {ragged});
  pool.sparse = true;
  EXPECT_EQ(fill_order(pool, 1 << 20), (Ranges{{0, 4096}}));
  pool.sparse = false;  // a device has registered it: then every page must be there
  EXPECT_EQ(fill_order(pool, 1 << 20).back().last, 4096u + 128u * 4096u);
}

TEST(PoolFiller, GivesEveryPoolItsMemory) {
  const Plan plan = small_plan();
  const auto segments = Segments::create(plan, plan_to_json(plan, -1));
  ASSERT_TRUE(segments.ok());
  {
    PoolFiller filler(plan, **segments, [](std::string message) { ADD_FAILURE() << message; });
    while (filler.filled_bytes() < plan.stages[0].pool.bytes) std::this_thread::yield();
  }
  struct stat status;
  fstat((*segments)->pool_fd(0, MapMode::read_write), &status);
  EXPECT_GE(static_cast<std::uint64_t>(status.st_blocks) * 512, plan.stages[0].pool.bytes);
}

TEST(PoolFiller, StopsEarlyWhenItGoes) {
  GraphBuilder graph;
  graph.producer("images", {{"image", u8, {1 << 20}}}).buffers = 2000;
  graph.consumer("sink", {"images"});
  const Plan plan = plan_of(graph);
  ASSERT_GT(plan.stages[0].pool.bytes, 1u << 30);
  const auto segments = Segments::create(plan, plan_to_json(plan, -1));
  ASSERT_TRUE(segments.ok());
  std::uint64_t filled = 0;
  {
    PoolFiller filler(plan, **segments, [](std::string) {});
    while (filler.filled_bytes() == 0) std::this_thread::yield();
    filled = filler.filled_bytes();
  }
  EXPECT_LT(filled, plan.stages[0].pool.bytes);
}

TEST(PoolFiller, GivesACacheItsMemory) {
  GraphBuilder graph;
  const Ports rows{{"image", u8, {1 << 20}}};
  graph.producer("images", rows).samples = 20;
  graph.transform("kept", {"images"}, rows).passed = {{"image", 0}};
  graph.type_of("kept").contract.cache = true;
  graph.consumer("sink", {"kept"});
  const Plan plan = plan_of(graph);
  ASSERT_EQ(plan.stages[1].cache.rows, 20u);
  const auto segments = Segments::create(plan, plan_to_json(plan, -1));
  ASSERT_TRUE(segments.ok());
  const std::uint64_t all = plan.stages[0].pool.bytes + plan.stages[1].segment_bytes();
  PoolFiller filler(plan, **segments, [](std::string message) { ADD_FAILURE() << message; });
  while (filler.filled_bytes() < all) std::this_thread::yield();
  EXPECT_EQ(filler.filled_bytes(), all);
}

TEST(PoolFiller, LeavesTheFileOfACacheToTheDisk) {
  GraphBuilder graph;
  const Ports rows{{"image", u8, {1 << 20}}};
  graph.producer("images", rows).samples = 20;
  graph.transform("kept", {"images"}, rows).passed = {{"image", 0}};
  graph.type_of("kept").contract.cache = true;
  graph.stage("kept").param_values = {{"file", ParamValue::scalar("/data/kept.cache")}};
  graph.consumer("sink", {"kept"});
  const Plan plan = plan_of(graph);
  const int file = memfd_create("kept", MFD_CLOEXEC);
  const std::uint64_t bytes = kCacheHeaderBytes + plan.stages[1].cache.bytes;
  ASSERT_EQ(ftruncate(file, static_cast<off_t>(bytes)), 0);
  const auto segments = Segments::create(plan, plan_to_json(plan, -1), {-1, file, -1});
  ASSERT_TRUE(segments.ok()) << segments.error().message;
  EXPECT_EQ((*segments)->kept_fd(1), file);
  const std::uint64_t all = plan.stages[0].pool.bytes + plan.stages[1].pool.bytes;
  {
    PoolFiller filler(plan, **segments, [](std::string message) { ADD_FAILURE() << message; });
    while (filler.filled_bytes() < all) std::this_thread::yield();
  }
  struct stat status;
  fstat(file, &status);
  EXPECT_EQ(status.st_blocks, 0);
  // What it keeps lies right behind its ring.
  (*segments)->pool_data(1)[plan.stages[1].pool.bytes] = std::byte{7};
  char first = 0;
  EXPECT_EQ(pread(file, &first, 1, kCacheHeaderBytes), 1);
  EXPECT_EQ(first, 7);
  close(file);
}

TEST(PoolFiller, ACacheNeedsTheFileThatItNames) {
  GraphBuilder graph;
  const Ports rows{{"x", u8, {8}}};
  graph.producer("numbers", rows).samples = 20;
  graph.transform("kept", {"numbers"}, rows).passed = {{"x", 0}};
  graph.type_of("kept").contract.cache = true;
  graph.stage("kept").param_values = {{"file", ParamValue::scalar("/data/kept.cache")}};
  graph.consumer("sink", {"kept"});
  const Plan plan = plan_of(graph);
  const auto made = Segments::create(plan, plan_to_json(plan, -1));
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("/data/kept.cache is not open"), std::string::npos);
}

}  // namespace
}  // namespace brigade
