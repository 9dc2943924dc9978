// Tests of this folder start workers: this program again.

#include <gtest/gtest.h>

#include <brigade/app.h>
#include "tests/conformance/exec_host.h"
#include "tests/conformance/test_stages.h"

int main(int argc, char** argv) {
  brigade::conformance::run_if_program(argc, argv);
  const brigade::App app(argc, argv, brigade::conformance::conformance_stage_types());
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
