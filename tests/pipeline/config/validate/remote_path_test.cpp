#include "pipeline/config/validate/remote_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade {
namespace {

using testing::HasSubstr;
using testing::Optional;

TEST(RemotePath, SaysHowDataComeHere) {
  EXPECT_EQ(help_of_remote("https://example.org/a.tar"),
            "copy the files first (`curl -fO`) or mount their storage, and write the path");
  EXPECT_THAT(help_of_remote("s3://bucket/a.tar"), Optional(HasSubstr("`aws s3 cp`")));
  EXPECT_THAT(help_of_remote("hf://datasets/a"), Optional(HasSubstr("copy the files first or")));
  EXPECT_EQ(help_of_remote("file:///data"), "write the path alone, without file://");
  EXPECT_THAT(help_of_remote("pipe:cat a.tar"), Optional(HasSubstr("COMMAND > train-000.tar")));
}

TEST(RemotePath, APathIsNone) {
  for (const char* path : {"", "/data", "data/a b", "a:b", "://", "odd name://x"})
    EXPECT_EQ(help_of_remote(path), std::nullopt) << path;
}

}  // namespace
}  // namespace brigade
