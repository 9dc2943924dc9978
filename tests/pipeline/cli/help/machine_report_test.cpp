#include "pipeline/cli/help/machine_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include <brigade/text.h>
#include "pipeline/worker/module_loader.h"

namespace brigade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

MachineLimits good_limits() {
  MachineLimits limits;
  limits.cores_affinity = 8;
  limits.memory_available_bytes = std::uint64_t{16} << 30;
  limits.descriptors_soft = 1024;
  limits.descriptors_hard = 4096;
  limits.has_populate_write = true;
  return limits;
}

MachineFacts good_facts() {
  MachineFacts facts;
  facts.kernel = "6.1.0";
  facts.shm_huge = "never";
  facts.modules_found = {"torch"};
  return facts;
}

Finding finding(const std::string& what, const MachineLimits& limits,
                const MachineFacts& facts = good_facts()) {
  for (const Finding& found : examine(limits, facts)) {
    if (found.what == what) return found;
  }
  return {};
}

TEST(Doctor, FindsNothingWrongWithAGoodMachine) {
  for (const Finding& found : examine(good_limits(), good_facts())) {
    EXPECT_EQ(found.health, Health::fine) << found.what << ": " << found.means;
  }
}

TEST(Doctor, CountsTheHugePagesThatAreReserved) {
  EXPECT_THAT(finding("hugepages", good_limits()).means, HasSubstr("sysctl vm.nr_hugepages=N"));
  MachineLimits limits = good_limits();
  limits.huge_pages = 16;
  limits.huge_pages_free = 12;
  EXPECT_EQ(finding("hugepages", limits).found, "12 of 16 free, of 2 MiB each");
}

TEST(Doctor, SaysOfEachFindingWhatItMeansForARun) {
  MachineLimits poor;
  poor.descriptors_hard = 10;
  poor.file_bytes_max = 1;
  poor.address_space_bytes_max = 1;
  poor.gpus = 1;
  poor.locked_bytes_max = 1;
  MachineFacts bare;
  bare.has_pidfd = bare.has_proc = false;
  bare.filtered = true;
  bare.swap_used_bytes = 1ull << 40;
  for (const auto& [limits, facts] :
       {std::pair{good_limits(), good_facts()}, std::pair{poor, bare}}) {
    const auto findings = examine(limits, facts);
    EXPECT_EQ(findings.size(), 14u);
    for (const Finding& found : findings) {
      EXPECT_NE(found.found, "") << found.what;
      EXPECT_NE(found.means, "") << found.what;
    }
  }
}

TEST(Doctor, SaysHowCoresAreLimited) {
  MachineLimits limits = good_limits();
  limits.cores_quota = 1.5;
  EXPECT_EQ(finding("cores", limits).found, "1");
  EXPECT_THAT(
      finding("cores", limits).means,
      testing::StartsWith("8 in the affinity mask, the cgroup's quota is 1.5; stages take"));
  EXPECT_EQ(finding("cores", limits).health, Health::note);
}

TEST(Doctor, LimitsThatRefuseGraphsAreProblems) {
  MachineLimits limits = good_limits();
  limits.file_bytes_max = 4096;
  limits.address_space_bytes_max = 1 << 20;
  limits.descriptors_hard = 64;
  limits.memory_available_bytes = 1 << 20;
  for (const char* what : {"file size", "address space", "descriptors", "memory"}) {
    EXPECT_EQ(finding(what, limits).health, Health::problem) << what;
    EXPECT_NE(finding(what, limits).means, "") << what;
  }
}

TEST(Doctor, KnowsWhatAnOldKernelLacks) {
  MachineLimits limits = good_limits();
  limits.has_populate_write = false;
  EXPECT_THAT(finding("kernel", limits).means, HasSubstr("5.14"));
  MachineFacts facts = good_facts();
  facts.has_pidfd = false;
  EXPECT_EQ(finding("kernel", limits, facts).health, Health::problem);
  EXPECT_THAT(finding("kernel", limits, facts).means, HasSubstr("5.4"));
}

GpuFacts good_gpu() {
  GpuFacts gpu;
  gpu.name = "Fake GPU";
  gpu.memory_bytes = std::uint64_t{80} << 30;
  gpu.pci = "0000:01:00.0";
  gpu.link = "16.0 GT/s PCIe x16";
  return gpu;
}

MachineFacts facts_with(const GpuFacts& gpu, int driver_version = 13000) {
  MachineFacts facts = good_facts();
  facts.gpu_driver = "580.65";
  facts.gpu.driver_version = driver_version;
  facts.gpu.gpus = {gpu};
  return facts;
}

TEST(Doctor, ShowsDriverAndGpus) {
  const MachineFacts facts = facts_with(good_gpu());
  EXPECT_EQ(finding("GPU driver", good_limits(), facts).found, "CUDA 13.0 (580.65)");
  const Finding gpu = finding("cuda:0", good_limits(), facts);
  EXPECT_EQ(gpu.health, Health::fine);
  EXPECT_EQ(gpu.found, "Fake GPU, 80.0 GiB, 0000:01:00.0, 16.0 GT/s PCIe x16");
  EXPECT_EQ(gpu.means, "buffers are pinned for it to be read only");
  EXPECT_EQ(finding("GPU driver", good_limits(), facts_with(good_gpu(), 11080)).health,
            Health::note);
}

TEST(Doctor, SaysWhatMakesCopiesToAGpuSlowOrUnsafe) {
  const auto means = [](bool GpuFacts::*member, bool value) {
    GpuFacts gpu = good_gpu();
    gpu.*member = value;
    const Finding found = finding("cuda:0", good_limits(), facts_with(gpu));
    return concat(found.health == Health::note ? "note " : "ok ", found.means);
  };
  EXPECT_EQ(means(&GpuFacts::pins, false),
            "note no memory can be pinned for it: copies are slower");
  EXPECT_EQ(means(&GpuFacts::link_is_narrow, true),
            "note copies are slower than in a slot with all its lanes");
  EXPECT_EQ(means(&GpuFacts::has_mps, true),
            "note its processes share it through MPS: a fault of one of them may end all");
  EXPECT_EQ(means(&GpuFacts::pins_read_only, false),
            "ok what a stage may only read cannot be pinned for it: copies are slower");
  GpuFacts part = good_gpu();
  part.name += " MIG 1g.5gb";
  EXPECT_THAT(finding("cuda:0", good_limits(), facts_with(part)).means, HasSubstr("(MIG)"));
  MachineLimits tight = good_limits();
  tight.locked_bytes_max = 8 << 20;
  EXPECT_EQ(finding("locked memory", tight, facts_with(good_gpu())).health, Health::note);
  EXPECT_EQ(finding("locked memory", tight).health, Health::fine);
  MachineFacts kernel = facts_with(good_gpu());
  kernel.kernel = "6.12.3-amd64";
  EXPECT_THAT(finding("kernel", good_limits(), kernel).means, HasSubstr("2 GiB at once"));
  kernel.gpu = {};
  EXPECT_EQ(finding("kernel", good_limits(), kernel).health, Health::fine);
}

TEST(Doctor, SaysWhyAGpuThatIsThereCannotBeUsed) {
  MachineFacts facts = good_facts();
  facts.gpu.problem = "the NVIDIA driver does not begin";
  EXPECT_EQ(finding("GPU", good_limits(), facts).health, Health::note);
  EXPECT_EQ(finding("GPU", good_limits(), facts).means, "the NVIDIA driver does not begin");
  facts.gpu.has_driver = false;
  EXPECT_EQ(finding("GPU", good_limits(), facts).found, "none");
  MachineLimits with_gpu = good_limits();
  with_gpu.gpus = 1;
  EXPECT_EQ(finding("GPU", with_gpu, facts).health, Health::note);
}

TEST(Doctor, NamesPackagesThatAreMissing) {
  MachineFacts facts = good_facts();
  facts.modules_missing = {"cuda"};
  EXPECT_THAT(finding("packages", good_limits(), facts).means, HasSubstr("stages of cuda"));
}

TEST(Doctor, ShowsALinePerFinding) {
  EXPECT_EQ(findings_text({{Health::fine, "cores", "8", ""},
                           {Health::problem, "memory", "1 MiB", "too little"}}),
            "ok   cores   8\n"
            "BAD  memory  1 MiB  too little\n");
}

TEST(DoctorProbe, FindsWhatRunsNeed) {
  const MachineFacts facts = probe_facts({});
  EXPECT_TRUE(facts.has_pidfd);  // else no test of this folder could pass
  EXPECT_TRUE(facts.has_memfd);
  EXPECT_TRUE(facts.has_proc);
  EXPECT_NE(facts.kernel, "");
}

TEST(DoctorProbe, TellsModulesThatAreThereFromThoseThatAreNot) {
  setenv(kModulePathVariable, BRIGADE_BINARY_DIR "/tests/modules", 1);
  const MachineFacts facts = probe_facts({"good", "nowhere"});
  unsetenv(kModulePathVariable);
  EXPECT_THAT(facts.modules_found, ElementsAre("good"));
  EXPECT_THAT(facts.modules_missing, ElementsAre("nowhere"));
}

}  // namespace
}  // namespace brigade
