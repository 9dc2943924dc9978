#include "pipeline/worker/tasks/guarded_call.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include <brigade/stage.h>

namespace brigade {
namespace {

TEST(Guarded, AnExceptionIsAnErrorOfOneLine) {
  const auto thrown = guarded([]() -> Result<Next> { throw std::runtime_error("first\nsecond"); });
  ASSERT_FALSE(thrown.ok());
  EXPECT_EQ(thrown.error().message, "first");
  const auto strange = guarded([]() -> Result<Next> { throw 7; });
  ASSERT_FALSE(strange.ok());
  EXPECT_EQ(strange.error().message, "an exception that is not a std::exception");
  const auto nameless = guarded([]() -> Result<Next> { throw std::runtime_error(""); });
  ASSERT_FALSE(nameless.ok());
  EXPECT_EQ(nameless.error().message, "an exception without a message");
  const auto answered = guarded([]() -> Result<Next> { return Next::emit; });
  ASSERT_TRUE(answered.ok());
  EXPECT_EQ(*answered, Next::emit);
}

}  // namespace
}  // namespace brigade
