#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "pipeline/process/doctor.h"
#include "pipeline/process/module_loader.h"

namespace brigade {
namespace {

using testing::ElementsAre;

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
