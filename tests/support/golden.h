#pragma once

// Compares a text with the file tests/golden/NAME, word for word. With UPDATE_GOLDEN=1 in the
// environment the file is written instead: look at the difference in git before committing it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace brigade {

/// Every occurrence, such as of a folder's path that differs from run to run.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

inline void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path =
      std::filesystem::path(BRIGADE_SOURCE_DIR) / "tests" / "golden" / name;
  const char* update = std::getenv("UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing; UPDATE_GOLDEN=1 writes it. The text is:\n" << text;
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str()) << "tests/golden/" << name << "; UPDATE_GOLDEN=1 rewrites it";
}

}  // namespace brigade
