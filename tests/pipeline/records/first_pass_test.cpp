#include "pipeline/records/first_pass.h"
#include "pipeline/records/shared_shape.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <fstream>

#include "pipeline/plan/ring_layout.h"
#include "pipeline/report/counters.h"
#include "tests/support/run_line.h"
#include "transports/limits.h"
#include "transports/memory_file.h"

namespace brigade {
namespace {

constexpr std::uint64_t kSlots = 64;
constexpr std::uint64_t kMebibyte = 1 << 20;

PlanRing ring_of(const TensorType& type, bool sparse) {
  PlanRing ring;
  ring.slots = kSlots;
  ring.sparse = sparse;
  ring.tensors = ring_tensors(Ports{type});
  lay_out_ring(ring);
  return ring;
}

/// What of this process's tables leads to shared memory.
std::uint64_t mapped_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssShmem:")) return std::stoull(line.substr(9)) * 1024;
  return 0;
}

std::uint64_t memory_taken(const MemoryFile& file) {
  struct stat status;
  fstat(file.fd(), &status);
  return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

struct Mapped {
  explicit Mapped(const PlanRing& ring)
      : file(MemoryFile::create("test", ring.bytes).value()),
        memory(map_memory(file.fd(), ring.bytes, MapMode::read_write).value()),
        slots(memory.data(), ring.slots, slot_arrays(ring)) {}
  MemoryFile file;
  Mapping memory;
  SlotRing slots;
};

TEST(FirstPass, FillsTheTablesAChunkAheadAndOnce) {
  const PlanRing ring = ring_of({"image", u8, {64 << 10}}, false);  // 4 MiB
  Mapped mapped(ring);
  FirstPass first_pass(ring, mapped.slots, 2);
  const std::uint64_t before = mapped_bytes();
  first_pass.come_to(0);
  if (mapped_bytes() == before) GTEST_SKIP() << "this kernel cannot (5.14)";
  EXPECT_LT(mapped_bytes(), before + kMebibyte);  // the others do not wait for the whole ring
  for (std::uint64_t number = 0; number < 2 * kSlots; number += 2) first_pass.come_to(number);
  EXPECT_GE(mapped_bytes(), before + 4 * kMebibyte);
  EXPECT_GE(memory_taken(mapped.file), 4 * kMebibyte);

  madvise(mapped.memory.data(), ring.bytes, MADV_DONTNEED);
  for (std::uint64_t number = 0; number < kSlots; number += 2) first_pass.come_to(number);
  EXPECT_LT(mapped_bytes(), before + kMebibyte);  // nobody calls the kernel in later passes
}

TEST(FirstPass, GivesASparseArrayNoMemory) {
  const TensorType ragged{"image", u8, {up_to(64 << 10, 4096)}};
  for (const bool sparse : {true, false}) {
    const PlanRing ring = ring_of(ragged, sparse);
    Mapped mapped(ring);
    FirstPass first_pass(ring, mapped.slots, 2);
    for (std::uint64_t number = 0; number < kSlots; number += 2) first_pass.come_to(number);
    if (sparse) {
      EXPECT_LE(memory_taken(mapped.file), 16 * kPageBytes);  // headers and shapes
    } else if (memory_taken(mapped.file) > 0) {
      EXPECT_GE(memory_taken(mapped.file), 4 * kMebibyte);
    }
  }
}

TEST(FirstPass, ChangesNothingThatIsThere) {
  const PlanRing ring = ring_of({"image", u8, {5000}}, false);
  Mapped mapped(ring);
  FirstPass first_pass(ring, mapped.slots, 1);
  for (std::uint64_t number = 0; number < kSlots; ++number) {
    mapped.slots.slot(0, number)[4999] = static_cast<std::byte>(number);
    first_pass.come_to(number);
  }
  for (std::uint64_t number = 0; number < kSlots; ++number)
    EXPECT_EQ(mapped.slots.slot(0, number)[4999], static_cast<std::byte>(number));
}

Plan fashion_mnist_plan() {
  GraphBuilder graph = fashion_mnist_graph();
  return plan_graph(graph.build(), small_machine()).plan;
}

TEST(SharedShape, FollowsThePlan) {
  const Plan plan = fashion_mnist_plan();
  const SharedShape shape = shared_shape(plan, {});
  EXPECT_EQ(shape.replicas, plan.replicas);
  EXPECT_EQ(shape.index_spaces, 2);
  EXPECT_EQ(shape.replica_extra_bytes, kReplicaCounterBytes);
  ASSERT_EQ(shape.stages.size(), 4u);
  const StageShape& images = shape.stages[0];
  EXPECT_TRUE(images.source);
  EXPECT_EQ(images.slots, plan.stages[0].ring.slots);
  const StageShape& augment = shape.stages[1];
  EXPECT_FALSE(augment.source);
  EXPECT_EQ(augment.replicas, 2);
  EXPECT_EQ(augment.skips_max, plan.stages[1].skips_max);
  EXPECT_EQ(augment.queues[0].inputs, std::vector<StageNumber>{0});
  EXPECT_EQ(augment.queues[0].task, plan.stages[1].queues[0].task);
  EXPECT_EQ(augment.queues[0].window, plan.stages[1].queues[0].window);
  const StageShape& train = shape.stages[3];
  EXPECT_EQ(train.slots, 0u);
  ASSERT_EQ(train.queues.size(), 2u);
  EXPECT_NE(train.queues[0].index_space, train.queues[1].index_space);
  EXPECT_TRUE(train.queues[0].in_order);
}

TEST(SharedShape, WholeBatchesFitIntoTheQuarantineOfABatchedStage) {
  const SharedShape shape = shared_shape(fashion_mnist_plan(), {});
  EXPECT_EQ(shape.stages[1].quarantine_max, kQuarantineMin);
  EXPECT_EQ(shape.stages[3].quarantine_max, kQuarantineTasks * 256);
}

TEST(SharedShape, SupervisorAndWorkerComputeTheSame) {
  const Plan plan = fashion_mnist_plan();
  const SharedShape shape = shared_shape(plan, {});
  support::LineMemory memory(control_bytes<SystemPolicy>(shape));
  create_control<SystemPolicy>(memory.data(), shape);
  const SharedShape again = shared_shape(plan, {});
  EXPECT_TRUE(
      attach_control<SystemPolicy>(memory.data(), control_bytes<SystemPolicy>(shape), again).ok());

  Plan other = plan;
  other.stages[1].ring.slots *= 2;
  const SharedShape another = shared_shape(other, {});
  EXPECT_FALSE(
      attach_control<SystemPolicy>(memory.data(), control_bytes<SystemPolicy>(shape), another)
          .ok());
}

TEST(SlotArrays, LieWhereThePlanSays) {
  const Plan plan = fashion_mnist_plan();
  const PlanRing& ring = plan.stages[0].ring;
  const std::vector<SlotArray> arrays = slot_arrays(ring);
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays[0].offset_bytes, ring.tensors[0].offset);
  EXPECT_EQ(arrays[0].stride_bytes, 784u);
  EXPECT_EQ(arrays[1].stride_bytes, 1u);
}

}  // namespace
}  // namespace brigade
