#include "pipeline/memory/cgroups.h"
#include "pipeline/memory/machine_probe.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "tests/support/temporary_folder.h"
#include "tests/support/word_for_word.h"

namespace brigade {
namespace {

// A machine made of files: tests/golden/memory/cgroups.txt. `> version2 GROUP` and `> version1`
// mount control groups, `> file PATH TEXT` is a file, `> limits` and `> kills` ask, `> kills_again`
// asks where it was found before.
struct MachineOfFiles {
  std::string answer(std::string_view line) {
    const auto [verb, rest] = parted(line, " ");
    const auto [path, text] = parted(rest, " ");
    if (verb == "limits") return limits();
    if (verb == "kills") counter = memory_kill_counter(folder.path());
    if (verb == "kills" || verb == "kills_again") return concat(counter(), "\n");
    if (verb == "file") {
      folder.write(path, unescaped(text) + "\n");
    } else if (verb == "forgets") {
      std::filesystem::remove_all(folder.path() / path);
    } else if (verb == "version2") {
      folder.write("proc/self/cgroup", concat("0::", rest, "\n"));
      folder.write("proc/self/mountinfo",
                   "22 1 0:21 / /sys rw - sysfs sysfs rw\n"
                   "30 22 0:26 / /cg rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
    } else if (verb == "version1") {
      folder.write("proc/self/cgroup", "4:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc\n0::/\n");
      folder.write("proc/self/mountinfo",
                   "31 30 0:27 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
                   "32 30 0:28 /docker/abc /cg/memory ro - cgroup cgroup rw,memory\n"
                   "33 30 0:29 / /cg/unified rw - cgroup2 cgroup2 rw\n");
    } else {
      return unknown_command(line);
    }
    return "";
  }
  std::string limits() const {
    const CgroupLimits found = read_cgroups(folder.path());
    if (found.memory_limit_bytes == ~std::uint64_t{0}) return concat("cores ", found.cores, "\n");
    return concat("cores ", found.cores, ", memory ", found.memory_limit_bytes, ", used ",
                  found.memory_used_bytes, "\n");
  }

  const TemporaryFolder folder;
  std::function<std::uint64_t()> counter;
};

TEST(Cgroups, AreReadWordForWord) { expect_session<MachineOfFiles>("memory/cgroups.txt"); }

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
