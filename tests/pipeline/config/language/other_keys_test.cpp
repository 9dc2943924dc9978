#include "pipeline/config/language/other_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade {
namespace {

using testing::HasSubstr;
using testing::Optional;

TEST(OtherKeys, SayWhatToWriteAndWhere) {
  EXPECT_EQ(other_key_help("num_workers", KeyScope::stage),
            "write `replicas:`: processes that share the stage's work");
  EXPECT_THAT(other_key_help("num_workers", KeyScope::top),
              Optional(HasSubstr("write `replicas:` at a stage: ")));
  EXPECT_THAT(other_key_help("numWorkers", std::nullopt),
              Optional(HasSubstr("write `replicas:` beside `params:`: ")));
  EXPECT_THAT(other_key_help("max-epochs", KeyScope::stage),
              Optional(HasSubstr("write `epochs:` at the top level of the file: ")));
  EXPECT_THAT(other_key_help("persistent_workers", KeyScope::stage),
              Optional(HasSubstr("omit it")));
  EXPECT_EQ(other_key_help("replicas", KeyScope::stage), std::nullopt);
}

TEST(OtherKeys, BecomeSettings) {
  EXPECT_EQ(key_as_setting("epochs", "3"), "--set epochs=3");
  EXPECT_EQ(key_as_setting("num-epochs", "3"), "--set epochs=3");
  EXPECT_EQ(key_as_setting("batch-size", "64"), "--set stages.STAGE.batch=64");
  EXPECT_EQ(key_as_setting("stall-timeout", ""), "--set stages.STAGE.stall_timeout=VALUE");
  EXPECT_EQ(key_as_setting("collate-fn", "f"), std::nullopt);
  EXPECT_EQ(key_as_setting("verbose", ""), std::nullopt);
}

}  // namespace
}  // namespace brigade
