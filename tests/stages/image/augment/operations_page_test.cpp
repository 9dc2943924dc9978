// The tables of operations and targets in docs/AUGMENTATION.md are those of the program, word for
// word (UPDATE_GOLDEN=1 rewrites it).

#include <gtest/gtest.h>

#include "stages/image/augment/operations.h"
#include "stages/image/targets/targets.h"
#include "tests/support/images/operation_rows.h"

namespace brigade {
namespace {

using testing_support::expect_rows;
using testing_support::rows_of;

TEST(OperationsPageTest, HasEveryOperationAndParameter) {
  expect_rows("AUGMENTATION.md", "<!-- operations:", rows_of("operation", operation_types()));
}

TEST(OperationsPageTest, HasEveryKindOfTarget) {
  expect_rows("AUGMENTATION.md", "<!-- targets:", rows_of("target", target_types()));
}

}  // namespace
}  // namespace brigade
