#include "pipeline/cli/help/machine_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include <brigade/text.h>
#include "pipeline/worker/module_loader.h"
#include "tests/support/config/golden_cases.h"
#include "tests/support/golden.h"

namespace brigade {
namespace {

using testing::ElementsAre;

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

GpuFacts good_gpu() {
  GpuFacts gpu;
  gpu.name = "Fake GPU";
  gpu.memory_bytes = std::uint64_t{80} << 30;
  gpu.pci = "0000:01:00.0";
  gpu.link = "16.0 GT/s PCIe x16";
  return gpu;
}

/// The good machine with `NAME=VALUE`; `gpu` adds a good GPU, of which what follows is said.
std::string examined(const std::vector<std::string>& settings) {
  MachineLimits limits = good_limits();
  MachineFacts facts = good_facts();
  GpuFacts none;
  const std::map<std::string, std::uint64_t MachineLimits::*> numbers = {
      {"huge", &MachineLimits::huge_pages},
      {"huge_free", &MachineLimits::huge_pages_free},
      {"file", &MachineLimits::file_bytes_max},
      {"addresses", &MachineLimits::address_space_bytes_max},
      {"descriptors", &MachineLimits::descriptors_hard},
      {"memory", &MachineLimits::memory_available_bytes},
      {"locked", &MachineLimits::locked_bytes_max},
      {"gpus", &MachineLimits::gpus}};
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals), value = setting.substr(equals + 1);
    GpuFacts& gpu = facts.gpu.gpus.empty() ? none : facts.gpu.gpus.back();
    if (numbers.contains(name)) limits.*numbers.at(name) = std::stoull(value);
    if (name == "quota") limits.cores_quota = std::stod(value);
    if (name == "populate_write") limits.has_populate_write = value == "true";
    if (name == "kernel") facts.kernel = value;
    if (name == "pidfd") facts.has_pidfd = value == "true";
    if (name == "missing") facts.modules_missing = {value};
    if (name == "problem") facts.gpu.problem = value;
    if (name == "has_driver") facts.gpu.has_driver = value == "true";
    if (name == "cuda") facts.gpu.driver_version = std::stoi(value);
    if (name == "pins") gpu.pins = value == "true";
    if (name == "pins_read_only") gpu.pins_read_only = value == "true";
    if (name == "link_is_narrow") gpu.link_is_narrow = value == "true";
    if (name == "mps") gpu.has_mps = value == "true";
    if (name == "part") gpu.name += " MIG " + value;
    if (name != "gpu") continue;
    facts.gpu_driver = "580.65";
    facts.gpu.driver_version = 13000;
    facts.gpu.gpus = {good_gpu()};
  }
  std::string text;
  for (const Finding& found : examine(limits, facts))
    text += concat(found.health == Health::fine   ? "ok "
                   : found.health == Health::note ? "note "
                                                  : "BAD ",
                   found.what, ": ", found.found, ": ", found.means, "\n");
  return text;
}

TEST(Doctor, SaysWhatHelpsOrHurtsARun) {
  std::string all;
  for (const auto& [name, texts] : golden_cases("doctor", "machine")) {
    const std::string& text = texts.at(0);
    all += concat("=== ", name, "\n", text, "=== says\n",
                  answers(text, [](const auto& settings) { return Answer{examined(settings)}; }));
  }
  expect_golden("machine/doctor.txt", all);
}

TEST(Doctor, FindsNothingWrongWithAGoodMachine) {
  for (const Finding& found : examine(good_limits(), good_facts())) {
    EXPECT_EQ(found.health, Health::fine) << found.what << ": " << found.means;
  }
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
