#pragma once

// What a command writes: runs a function and keeps what goes to standard output and error.

#include <gtest/gtest.h>

#include <string>

namespace brigade {

struct Captured {
  int code = 0;
  std::string out;
  std::string err;
};

template <class Command>
Captured captured(Command command) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Captured result;
  result.code = command();
  result.out = testing::internal::GetCapturedStdout();
  result.err = testing::internal::GetCapturedStderr();
  return result;
}

}  // namespace brigade
