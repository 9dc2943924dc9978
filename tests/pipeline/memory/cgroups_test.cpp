#include "pipeline/memory/cgroups.h"
#include "pipeline/memory/machine_probe.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};

// A machine made of files.
struct Machine : TemporaryFolder {
  void version2(const std::string& group) const {
    write("proc/self/cgroup", "0::" + group + "\n");
    write("proc/self/mountinfo",
          "22 1 0:21 / /sys rw - sysfs sysfs rw\n"
          "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  CgroupLimits limits() const { return read_cgroups(path()); }
};

TEST(Cgroups, WithoutFilesThereIsNoLimit) {
  const Machine machine;
  EXPECT_EQ(machine.limits().cores, 0);
  EXPECT_EQ(machine.limits().memory_limit_bytes, kNone);
}

TEST(Cgroups, Version2TakesTheTightestQuotaOnTheWayUp) {
  const Machine machine;
  machine.version2("/user/run");
  machine.write("sys/fs/cgroup/user/run/cpu.max", "max 100000\n");
  machine.write("sys/fs/cgroup/user/cpu.max", "150000 100000\n");
  machine.write("sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_DOUBLE_EQ(machine.limits().cores, 1.5);
}

TEST(Cgroups, Version2TakesTheGroupWithTheLeastRoom) {
  const Machine machine;
  machine.version2("/user/run");
  machine.write("sys/fs/cgroup/user/run/memory.max", "1000000\n");
  machine.write("sys/fs/cgroup/user/run/memory.current", "100000\n");
  machine.write("sys/fs/cgroup/user/memory.max", "2000000\n");
  machine.write("sys/fs/cgroup/user/memory.current", "1900000\n");
  machine.write("sys/fs/cgroup/user/memory.stat", "anon 5\ninactive_file 400000\n");
  EXPECT_EQ(machine.limits().memory_limit_bytes, 2000000u);
  EXPECT_EQ(machine.limits().memory_used_bytes, 1500000u);
}

TEST(Cgroups, NoLimitIsWrittenAsMax) {
  const Machine machine;
  machine.version2("/");
  machine.write("sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(machine.limits().memory_limit_bytes, kNone);
}

struct Version1 : Machine {
  Version1() {
    write("proc/self/cgroup", "4:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc\n0::/\n");
    write("proc/self/mountinfo",
          "31 30 0:27 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
          "32 30 0:28 /docker/abc /cg/memory ro - cgroup cgroup rw,memory\n");
  }
};

TEST(Cgroups, Version1ReadsQuotaAndPeriod) {
  const Version1 machine;
  machine.write("cg/cpu/docker/abc/cpu.cfs_quota_us", "50000\n");
  machine.write("cg/cpu/docker/abc/cpu.cfs_period_us", "100000\n");
  machine.write("cg/cpu/cpu.cfs_quota_us", "-1\n");
  machine.write("cg/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(machine.limits().cores, 0.5);
}

TEST(Cgroups, Version1InAContainerFindsItsGroupAtTheMountPoint) {
  const Version1 machine;
  machine.write("cg/memory/memory.limit_in_bytes", "3000\n");
  machine.write("cg/memory/memory.usage_in_bytes", "1000\n");
  machine.write("cg/memory/memory.stat", "total_inactive_file 200\n");
  EXPECT_EQ(machine.limits().memory_limit_bytes, 3000u);
  EXPECT_EQ(machine.limits().memory_used_bytes, 800u);
}

TEST(Cgroups, Version1WritesAHugeNumberForNoLimit) {
  const Version1 machine;
  machine.write("cg/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(machine.limits().memory_limit_bytes, kNone);
}

TEST(Cgroups, OddFilesAreNoLimit) {
  const Machine machine;
  machine.version2("/a");
  machine.write("sys/fs/cgroup/a/cpu.max", "0 0\n");
  machine.write("sys/fs/cgroup/a/memory.max", "many\n");
  machine.write("sys/fs/cgroup/cpu.max", "-5 100000\n");
  EXPECT_EQ(machine.limits().cores, 0);
  EXPECT_EQ(machine.limits().memory_limit_bytes, kNone);
}

TEST(MemoryKillsOfAGroup, AreCountedInItsOwnFolder) {
  const Machine machine;
  EXPECT_EQ(memory_kill_counter(machine.path())(), 0u);
  machine.write("proc/vmstat", "nr_free_pages 5\noom_kill 11\n");
  machine.version2("/user/run");
  EXPECT_EQ(memory_kill_counter(machine.path())(), 11u);  // nobody else counts
  machine.write("sys/fs/cgroup/user/memory.events", "oom 0\noom_kill 7\n");
  EXPECT_EQ(memory_kill_counter(machine.path())(), 11u);
  machine.write("sys/fs/cgroup/user/run/memory.events", "oom 9\noom_kill 3\noom_group_kill 0\n");
  EXPECT_EQ(memory_kill_counter(machine.path())(), 3u);
}

TEST(MemoryKillsOfAGroup, AreReadAgainWhereTheyWereFound) {
  const Machine machine;
  machine.version2("/run");
  machine.write("sys/fs/cgroup/run/memory.events", "oom_kill 3\n");
  const auto kills = memory_kill_counter(machine.path());
  EXPECT_EQ(kills(), 3u);
  std::filesystem::remove_all(machine.path() / "proc");  // nothing else is looked up any more
  machine.write("sys/fs/cgroup/run/memory.events", "oom_kill 12\n");
  EXPECT_EQ(kills(), 12u);
}

TEST(MemoryKillsOfAGroup, AreCountedByVersion1) {
  const Machine machine;
  machine.write("proc/self/cgroup", "4:memory:/job\n0::/\n");
  machine.write("proc/self/mountinfo",
                "30 22 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                "31 22 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  machine.write("sys/fs/cgroup/memory/job/memory.oom_control",
                "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
  EXPECT_EQ(memory_kill_counter(machine.path())(), 4u);
}

TEST(MemoryKills, ExplainAsManyDeathsAsThereWere) {
  std::uint64_t count = 5;
  MemoryKills kills([&count] { return count; });
  EXPECT_FALSE(kills.explain_one());
  count += 2;  // at once
  EXPECT_TRUE(kills.explain_one());
  EXPECT_TRUE(kills.explain_one());
  EXPECT_FALSE(kills.explain_one());
}

TEST(MachineProbe, CountsTheCoresOfTheMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(probe_machine().cores_affinity, static_cast<std::uint64_t>(CPU_COUNT(&before)));
  int first = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(first), &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(first), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(probe_machine().cores_affinity, 1u);
  sched_setaffinity(0, sizeof before, &before);
}

TEST(MachineProbe, ReadsTheLimitsOfThisProcess) {
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1 << 20, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_EQ(probe_machine().file_bytes_max, 1u << 20);
  setrlimit(RLIMIT_FSIZE, &before);
  rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  EXPECT_EQ(probe_machine().descriptors_soft, files.rlim_cur);
}

TEST(MachineProbe, NoticesDescriptorsThatAreOpen) {
  const auto before = probe_machine().descriptors_used;
  const int fd = open("/dev/null", O_RDONLY);
  EXPECT_EQ(probe_machine().descriptors_used, before + 1);
  close(fd);
}

TEST(MachineProbe, KnowsHowManyRunsShareTheMachine) {
  setenv("LOCAL_WORLD_SIZE", "4", 1);
  EXPECT_EQ(probe_machine().local_world_size, 4u);
  EXPECT_EQ(probe_machine().local_world_said_by, "LOCAL_WORLD_SIZE");
  EXPECT_EQ(probe_machine().local_rank, -1);
  setenv("LOCAL_RANK", "3", 1);
  EXPECT_EQ(probe_machine().local_rank, 3);
  unsetenv("LOCAL_RANK");
  setenv("LOCAL_WORLD_SIZE", "many", 1);
  EXPECT_EQ(probe_machine().local_world_size, 1u);
  unsetenv("LOCAL_WORLD_SIZE");
  EXPECT_EQ(probe_machine().local_world_size, 1u);
}

TEST(MachineProbe, KnowsWhetherTheLauncherHasGivenItCores) {
  setenv("LOCAL_WORLD_SIZE", "2", 1);
  setenv("LOCAL_RANK", "0", 1);
  const MachineLimits whole = probe_machine();
  EXPECT_FALSE(whole.cores_are_its_own);
  EXPECT_EQ(whole.cpus.size(), whole.cores_affinity);
  if (whole.cpus.size() > 1) {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(whole.cpus.front()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_TRUE(probe_machine().cores_are_its_own) << "the process above has them all";
    sched_setaffinity(0, sizeof before, &before);
  }
  unsetenv("LOCAL_RANK");
  unsetenv("LOCAL_WORLD_SIZE");
}

TEST(MachineProbe, HidesDevicesThatTheEnvironmentHides) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  EXPECT_EQ(probe_machine().gpus, 0u);
  setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
  EXPECT_EQ(probe_machine().gpus, 0u);
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST(MachineProbe, FindsMemoryAndAddressSpace) {
  const MachineLimits limits = probe_machine();
  EXPECT_NE(limits.memory_available_bytes, kNoLimit);
  EXPECT_GT(limits.memory_available_bytes, 1u << 20);
  EXPECT_GT(limits.address_space_used_bytes, 1u << 20);
  EXPECT_EQ(limits.page_bytes, static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

}  // namespace
}  // namespace brigade
