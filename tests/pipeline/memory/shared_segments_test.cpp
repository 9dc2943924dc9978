#include "pipeline/memory/shared_segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "pipeline/plan/plan_json.h"
#include "pipeline/plan/sample_address.h"
#include "tests/support/message_of.h"
#include "tests/support/number_line.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

/// System calls are filtered, as by a container's profile: from here on, for good, in a child that
/// ends.
bool refuse_membarrier() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof filter / sizeof filter[0], filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// What a worker is given.
struct Grants {
  int control_fd = -1;
  int plan_fd = -1;
  std::vector<RingGrant> rings = {};
};

auto attach(const Grants& given) {
  return AttachedSegments::attach(OwnedFd(given.control_fd), OwnedFd(given.plan_fd), given.rings);
}

/// Of tasks of one sample, in order: there sleepers pay for wake-ups, where the kernel lets them.
Plan plan_of_small_tasks() {
  GraphBuilder graph("small");
  graph.producer("numbers", {{"value", i64, {}}}).chunk = 1;
  graph.consumer("sink", {"numbers"}).chunk = 1;
  return plan_of(graph);
}

struct TwoSides : testing::Test {
  Plan plan = plan_of_small_tasks();
  std::unique_ptr<SharedSegments> segments = SharedSegments::create(plan, {}).value();

  // Descriptors that attach() may close.
  Grants grants(bool writes) {
    Grants given;
    given.control_fd = dup(segments->control_fd());
    given.plan_fd = dup(segments->plan_fd());
    const MapMode mode = writes ? MapMode::read_write : MapMode::read_only;
    given.rings = {{0, dup(segments->ring_fd(0, mode)), writes}};
    return given;
  }
};

TEST_F(TwoSides, AWorkerReadsThePlanAndWhereItGoesOnFrom) {
  ResumePoint resume;
  resume.run_id = "7-8";
  resume.index_spaces.resize(plan.index_spaces.size());
  resume.index_spaces[0].start = 64;
  segments = SharedSegments::create(plan, resume).value();
  const auto attached = attach(grants(true));
  ASSERT_TRUE(attached.ok()) << attached.error().message;
  EXPECT_EQ((*attached)->plan(), plan);
  EXPECT_EQ((*attached)->resume(), resume);
  EXPECT_EQ((*attached)->control().stages[0].queues[0].watermark->level.value, 64u);
}

TEST_F(TwoSides, NobodyChangesThePlan) {
  const int fd = segments->plan_fd();
  EXPECT_EQ(pwrite(fd, "x", 1, 0), -1);
  EXPECT_EQ(ftruncate(fd, 0), -1);
  EXPECT_EQ(mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  EXPECT_EQ(pwrite(segments->control_fd(), "B", 1, 0), 1);  // which is not sealed like that
  EXPECT_EQ(read_memory(fd, 1 << 20).value(), run_to_json(plan, {}));
}

TEST_F(TwoSides, APlanThatIsNoneIsRefused) {
  const MemoryFile nonsense = MemoryFile::create_holding("brigade-plan", "{").value();
  Grants given = grants(true);
  close(given.plan_fd);
  given.plan_fd = dup(nonsense.fd());
  EXPECT_FALSE(attach(given).ok());
}

TEST_F(TwoSides, TheControlWordsAreShared) {
  const auto attached = attach(grants(true));
  segments->control().replicas[1].in_flight.value = 42;
  EXPECT_EQ((*attached)->control().replicas[1].in_flight.value, 42u);
  (*attached)->control().stages[0].queues[0].watermark->level.value = 7;
  EXPECT_EQ(segments->control().stages[0].queues[0].watermark->level.value, 7u);
}

TEST_F(TwoSides, SlotsAreSharedAndOnlyThoseThatWereGranted) {
  const auto writer = attach(grants(true));
  const auto reader = attach(grants(false));
  std::memcpy((*writer)->slot_rings()[0].slot(0, 5), "slot", 4);
  EXPECT_EQ(std::memcmp((*reader)->slot_rings()[0].slot(0, 5), "slot", 4), 0);
  EXPECT_EQ(std::memcmp(segments->slot_rings()[0].slot(0, 5), "slot", 4), 0);
  EXPECT_EQ((*reader)->slot_rings()[1].arrays(), 0u);
}

TEST_F(TwoSides, AReaderCannotWrite) {
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
                 segments->ring_fd(0, MapMode::read_only), 0),
            MAP_FAILED);
  EXPECT_EXIT(
      {
        const auto reader = attach(grants(false));
        *(*reader)->slot_rings()[0].slot(0, 0) = std::byte{1};
        _exit(0);
      },
      testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(TwoSides, AttachingClosesTheDescriptors) {
  const Grants given = grants(true);
  ASSERT_TRUE(attach(given).ok());
  EXPECT_EQ(close(given.control_fd), -1);
  EXPECT_EQ(close(given.plan_fd), -1);
  EXPECT_EQ(close(given.rings[0].fd), -1);
}

TEST_F(TwoSides, AWorkerBeyondTheBarriersOfItsGraphIsRefused) {
  if (!SystemPolicy::join_barriers()) GTEST_SKIP() << "this kernel has no membarrier";
  ASSERT_EQ(segments->control().wake_order, WakeOrder::by_sleeper);
  EXPECT_EXIT(
      {
        if (!refuse_membarrier()) _exit(1);
        const auto attached = attach(grants(true));
        std::fputs(attached ? "attached" : attached.error().message.c_str(), stderr);
        _exit(0);
      },
      testing::ExitedWithCode(0), "with membarrier\\(2\\), which .* this worker may not");
}

TEST_F(TwoSides, WithoutMembarrierFinishersPayForWakeUps) {
  EXPECT_EXIT(
      {
        if (!refuse_membarrier()) _exit(1);
        segments = SharedSegments::create(plan, {}).value();
        const auto attached = attach(grants(true));
        const bool by_finisher = segments->control().wake_order == WakeOrder::by_finisher &&
                                 (*attached)->control().wake_order == WakeOrder::by_finisher;
        _exit(by_finisher ? 0 : 2);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(TwoSides, ASegmentOfAnotherLayoutIsRefused) {
  Plan other = plan;
  other.stages[0].ring.slots *= 2;
  auto made = SharedSegments::create(other, {});
  ASSERT_TRUE(made.ok());
  // Words of one, plan of the other.
  EXPECT_THAT(message_of(attach({dup((*made)->control_fd()), dup(segments->plan_fd())})),
              testing::HasSubstr("another version of Brigade"));
}

TEST_F(TwoSides, ARingOfAnotherSizeIsRefused) {
  auto wrong = grants(true);
  close(wrong.rings[0].fd);
  wrong.rings[0].fd = dup(segments->control_fd());
  EXPECT_THAT(message_of(attach(wrong)), testing::HasSubstr("expected"));
}

TEST(SharedSegments, ThatDoNotFitTheLimitsAreAnErrorNotASignal) {
  Plan plan = small_plan();
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{plan.stages[0].ring.bytes - 1, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const auto made = SharedSegments::create(plan, {});
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(made.ok());
  EXPECT_TRUE(made.error().message.starts_with("the buffers of numbers -> sink: "))
      << made.error().message;
  EXPECT_NE(made.error().message.find("ulimit -f"), std::string::npos);
}

TEST(BeginAt, SetsTheWordsThatWatermarksDoNotSay) {
  support::NumberLine line;
  line.mixers = 2;
  support::RunLine run(support::number_graph(line), {}, [](const Plan&, ResumePoint& resume) {
    for (ResumeIndexSpace& index_space : resume.index_spaces) index_space.start = 64;
    for (ResumeStage& stage : resume.stages) stage.epoch_ends_told = 1;
    resume.stages[1].quarantined = {SampleAddress{0, 70}.word()};
    resume.stages[0].fingerprint = 9;
  });
  begin_at(run.plan(), run.resume(), run.control());
  EXPECT_EQ(run.queue("mix").watermark->level.value.load(), 64u);  // by the shape
  for (int r = 0; r < 2; ++r)
    EXPECT_EQ(run.context("mix", r).replica_words().ended.value.load(), 1u);
  EXPECT_TRUE(run.context("mix").words().quarantine.contains(70));
  EXPECT_EQ(run.context("numbers").words().fingerprint->value.load(), 9u);
}

TEST(BeginAt, EpochsThatAreOverAreEmptyWhereTheirEndsAreRecorded) {
  support::NumberLine line;
  line.epochs = 3;
  GraphBuilder graph = support::number_graph(line);
  graph.transform("again", {"mix"}, {support::kValue});
  graph.type_of("again").contract.numbering = Numbering::flat_map;
  graph.consumer("last", {"again"});
  support::RunLine run(graph, {}, [](const Plan&, ResumePoint& resume) {
    for (ResumeIndexSpace& index_space : resume.index_spaces) index_space.first_epoch = 2;
  });
  begin_at(run.plan(), run.resume(), run.control());
  const IndexSpaceNumber index_space = run.stage("last").queues[0].index_space;
  const auto& ends = run.control().epoch_ends[index_space];
  ASSERT_EQ(ends.capacity(), 3u);
  EXPECT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends.at(1), 0u);
}

}  // namespace
}  // namespace brigade
