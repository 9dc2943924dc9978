#pragma once

// What a command writes: runs a function and keeps what goes to standard output and error.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "pipeline/cli/commands/command_line.h"

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

/// A command of the program, as its user types it: {"check", "train.yaml"}.
inline Captured captured_command(std::vector<std::string> words, const StageTypes& types) {
  words.insert(words.begin(), "brigade");
  const Invocation command = parse_command_line(words);
  return captured([&] { return command(types, monotonic_ns()); });
}

}  // namespace brigade
