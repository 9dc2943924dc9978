#include "stages/image/opencv_errors.h"

#include <gtest/gtest.h>

#include <iostream>

namespace brigade {
namespace {

TEST(OpenCvErrors, TheReasonIsLeftOfWhatItSays) {
  EXPECT_EQ(opencv_reason("imdecode_(''): can't read data: OpenCV(4.6.0) "
                          "./modules/imgcodecs/src/bitstrm.cpp:102: error: (-2:Unspecified error) "
                          "Unexpected end of input stream in function 'readBlock'\n\n"),
            "Unexpected end of input stream");
  EXPECT_EQ(opencv_reason("/a/b.cpp:3: error: (-215:Assertion failed) (a) < b"), "(a) < b");
  for (const char* text : {"", "hello", ": error: (", ": error: (-2:x) "})
    EXPECT_EQ(opencv_reason(text), "");
}

TEST(OpenCvErrors, KeepsWhatIsSaidDuringACallAndNoMore) {
  testing::internal::CaptureStderr();
  {
    const OpenCvErrors errors;
    std::cerr << "x.cpp:1: error: (-2:kind) cut "
              << "off" << std::flush;
    EXPECT_EQ(errors.text(), "cut off");
  }
  std::cerr << "after it";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "after it");
}

}  // namespace
}  // namespace brigade
