#include "pipeline/process/backtrace_text.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(ReadableBacktrace, HasNamesAsTheyAreWritten) {
  EXPECT_EQ(readable_backtrace("backtrace: /a/lib.so(_ZN7brigade5Stage4openEi+0x1f) [0x7f01]"),
            "backtrace: /a/lib.so(brigade::Stage::open(int)+0x1f) [0x7f01]");
  EXPECT_EQ(readable_backtrace("backtrace: lib.so(_Z4stepv"), "backtrace: lib.so(step()");
}

TEST(ReadableBacktrace, LeavesTheRestAlone) {
  for (const char* line :
       {"backtrace: /lib/libc.so.6(abort+0xd3) [0x7f01]", "backtrace: prog(+0x1234) [0x1]",
        "backtrace: prog(_Znonsense+0x1) [0x1]", "backtrace: ", "", "backtrace: (_Z",
        "its own line (_Z4stepv)"}) {
    EXPECT_EQ(readable_backtrace(line), line);
  }
}

}  // namespace
}  // namespace brigade
