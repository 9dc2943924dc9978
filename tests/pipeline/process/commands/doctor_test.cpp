#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/process/commands/commands.h"
#include "stages/builtin.h"
#include "tests/support/captured.h"

namespace brigade {
namespace {

using testing::HasSubstr;

TEST(DoctorCommand, LooksAtThisMachine) {
  const StageTypes types = builtin_stage_types();
  const Captured ran = captured([&] { return doctor_command(types); });
  for (const char* what : {"cores", "memory", "descriptors", "kernel", "GPU", "packages"}) {
    EXPECT_THAT(ran.out, HasSubstr(what));
  }
  EXPECT_EQ(ran.code, ran.out.find("BAD") == std::string::npos ? 0 : 1);
}

}  // namespace
}  // namespace brigade
