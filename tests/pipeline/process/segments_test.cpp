#include "pipeline/process/segments.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>

#include "pipeline/plan/plan_json.h"
#include "tests/support/small_plan.h"
#include "tests/support/without_membarrier.h"

namespace brigade {
namespace {

struct TwoSides : testing::Test {
  Plan plan = small_plan();
  std::unique_ptr<Segments> segments = Segments::create(plan, plan_to_json(plan, -1)).value();

  // Descriptors that attach() may close.
  WorkerRole role(bool writes) {
    WorkerRole role;
    role.control_fd = dup(segments->control_fd());
    role.plan_fd = dup(segments->plan_fd());
    const MapMode mode = writes ? MapMode::read_write : MapMode::read_only;
    role.pools = {{0, dup(segments->pool_fd(0, mode)), writes}};
    return role;
  }
};

TEST_F(TwoSides, AWorkerReadsThePlan) {
  const auto attached = AttachedSegments::attach(role(true));
  ASSERT_TRUE(attached.ok()) << attached.error().message;
  EXPECT_EQ((*attached)->plan(), plan);
}

TEST_F(TwoSides, NobodyChangesThePlan) {
  const int fd = segments->plan_fd();
  EXPECT_EQ(pwrite(fd, "x", 1, 0), -1);
  EXPECT_EQ(ftruncate(fd, 0), -1);
  EXPECT_EQ(mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  EXPECT_EQ(pwrite(segments->control_fd(), "B", 1, 0), 1);  // which is not sealed like that
  EXPECT_EQ(read_memory(fd, 1 << 20).value(), plan_to_json(plan, -1));
}

TEST_F(TwoSides, APlanThatIsNoneIsRefused) {
  const MemoryFile nonsense = MemoryFile::create_holding("brigade-plan", "{").value();
  WorkerRole given = role(true);
  close(given.plan_fd);
  given.plan_fd = dup(nonsense.fd());
  EXPECT_FALSE(AttachedSegments::attach(given).ok());
}

TEST_F(TwoSides, TheControlWordsAreShared) {
  const auto attached = AttachedSegments::attach(role(true));
  segments->control().replicas[1].at.value = 42;
  EXPECT_EQ((*attached)->control().replicas[1].at.value, 42u);
  (*attached)->control().stages[0].lanes[0].mark->low.value = 7;
  EXPECT_EQ(segments->control().stages[0].lanes[0].mark->low.value, 7u);
}

TEST_F(TwoSides, RowsAreSharedAndOnlyThoseThatWereGranted) {
  const auto writer = AttachedSegments::attach(role(true));
  const auto reader = AttachedSegments::attach(role(false));
  std::memcpy((*writer)->row_pools()[0].row(0, 5), "rows", 4);
  EXPECT_EQ(std::memcmp((*reader)->row_pools()[0].row(0, 5), "rows", 4), 0);
  EXPECT_EQ(std::memcmp(segments->row_pools()[0].row(0, 5), "rows", 4), 0);
  EXPECT_EQ((*reader)->row_pools()[1].arrays(), 0u);
}

TEST_F(TwoSides, AReaderCannotWrite) {
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
                 segments->pool_fd(0, MapMode::read_only), 0),
            MAP_FAILED);
  EXPECT_EXIT(
      {
        const auto reader = AttachedSegments::attach(role(false));
        *(*reader)->row_pools()[0].row(0, 0) = std::byte{1};
        _exit(0);
      },
      testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(TwoSides, AttachingClosesTheDescriptors) {
  const WorkerRole given = role(true);
  ASSERT_TRUE(AttachedSegments::attach(given).ok());
  EXPECT_EQ(close(given.control_fd), -1);
  EXPECT_EQ(close(given.plan_fd), -1);
  EXPECT_EQ(close(given.pools[0].fd), -1);
}

TEST_F(TwoSides, AWorkerBeyondTheBarriersOfItsGraphIsRefused) {
  if (segments->control().wake_order == WakeOrder::by_finisher) GTEST_SKIP() << "no membarrier";
  EXPECT_EXIT(
      {
        if (!support::refuse_membarrier()) _exit(1);
        const auto attached = AttachedSegments::attach(role(true));
        std::fputs(attached ? "attached" : attached.error().message.c_str(), stderr);
        _exit(0);
      },
      testing::ExitedWithCode(0), "by membarrier\\(2\\), which .* this worker may not");
}

TEST_F(TwoSides, WithoutMembarrierFinishersPayForWakeUps) {
  EXPECT_EXIT(
      {
        if (!support::refuse_membarrier()) _exit(1);
        segments = Segments::create(plan, plan_to_json(plan, -1)).value();
        const auto attached = AttachedSegments::attach(role(true));
        const bool by_finisher = segments->control().wake_order == WakeOrder::by_finisher &&
                                 (*attached)->control().wake_order == WakeOrder::by_finisher;
        _exit(by_finisher ? 0 : 2);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(TwoSides, ASegmentOfAnotherLayoutIsRefused) {
  Plan other = plan;
  other.stages[0].pool.rows *= 2;
  auto made = Segments::create(other, plan_to_json(plan, -1));  // words of one, plan of the other
  ASSERT_TRUE(made.ok());
  WorkerRole role;
  role.control_fd = dup((*made)->control_fd());
  role.plan_fd = dup((*made)->plan_fd());
  const auto attached = AttachedSegments::attach(role);
  ASSERT_FALSE(attached.ok());
  EXPECT_NE(attached.error().message.find("another version of Brigade"), std::string::npos);
}

TEST_F(TwoSides, APoolOfAnotherSizeIsRefused) {
  auto wrong = role(true);
  close(wrong.pools[0].fd);
  wrong.pools[0].fd = dup(segments->control_fd());
  const auto attached = AttachedSegments::attach(wrong);
  ASSERT_FALSE(attached.ok());
  EXPECT_NE(attached.error().message.find("the plan says"), std::string::npos);
}

TEST(Segments, ThatDoNotFitTheLimitsAreAnErrorNotASignal) {
  Plan plan = small_plan();
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{plan.stages[0].pool.bytes - 1, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const auto made = Segments::create(plan, "{}");
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(made.ok());
  EXPECT_TRUE(made.error().message.starts_with("the buffers of numbers -> sink: "))
      << made.error().message;
  EXPECT_NE(made.error().message.find("ulimit -f"), std::string::npos);
}

}  // namespace
}  // namespace brigade
