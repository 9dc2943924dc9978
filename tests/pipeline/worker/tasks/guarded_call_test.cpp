#include "pipeline/worker/tasks/guarded_call.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include <brigade/stage.h>
#include "tests/support/message_of.h"

namespace brigade {
namespace {

TEST(Guarded, AnExceptionIsAnErrorOfOneLine) {
  EXPECT_EQ(
      message_of(guarded([]() -> Result<Next> { throw std::runtime_error("first\nsecond"); })),
      "first");
  EXPECT_EQ(message_of(guarded([]() -> Result<Next> { throw 7; })),
            "an exception that is not a std::exception");
  EXPECT_EQ(message_of(guarded([]() -> Result<Next> { throw std::runtime_error(""); })),
            "an exception without a message");
  const auto answered = guarded([]() -> Result<Next> { return Next::emit; });
  ASSERT_TRUE(answered.ok());
  EXPECT_EQ(*answered, Next::emit);
}

}  // namespace
}  // namespace brigade
