#pragma once

// Files that Python's torch and torchvision have written, for tests: made once per test program.

#include <gtest/gtest.h>
#include <torch/serialize.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <brigade/text.h>
#include "tests/support/temporary_folder.h"

namespace brigade::testing_support {

/// What a command that fails has said is a failure of the test.
inline bool succeeds(const std::string& command) {
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return false;
  std::string said(1 << 16, '\0');
  said.resize(fread(said.data(), 1, said.size(), pipe));
  if (pclose(pipe) == 0) return true;
  ADD_FAILURE() << command << ": " << said;
  return false;
}

/// The folder of what torchvision_files.py writes; empty where there is no torchvision.
inline const std::string& torchvision_folder() {
  static const TemporaryFolder folder;
  static const std::string path = [] {
    const std::string made = folder.path();
    const std::string script = BRIGADE_SOURCE_DIR "/tests/stages/torch/torchvision_files.py";
    succeeds(concat("/usr/bin/python3 -B ", script, " ", made));
    return std::filesystem::exists(folder.path() / "text.pt") ? made : std::string();
  }();
  return path;
}

class TorchvisionFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (folder.empty()) GTEST_SKIP() << "there is no torchvision";
  }
  const std::string& folder = torchvision_folder();
};

inline c10::Dict<c10::IValue, c10::IValue> tensors_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  return torch::pickle_load(bytes).toGenericDict();
}

inline at::Tensor tensor_of(const std::string& path, const std::string& name) {
  return tensors_of(path).at(name).toTensor();
}

}  // namespace brigade::testing_support
