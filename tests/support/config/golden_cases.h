#pragma once

// The graphs with mistakes of tests/golden/config and tests/golden/sources, many in a file: after a
// line `=== NAME` the graph, after `=== over` a file laid over it, after `=== says` what the user
// reads. The first lines of a graph may be directives: `#! --set KEY=VALUE`, `#! env NAME=VALUE`;
// in sources:
// `#! file NAME TEXT`, where \n is a line's end, and a NAME that ends in / is an empty folder.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <brigade/text.h>

namespace brigade {

struct GoldenCase {
  std::string name;
  std::vector<std::string> texts;
};

/// The names of the files in a folder of tests/golden, without their ending.
inline std::vector<std::string> golden_files(const std::string& folder = "config") {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(BRIGADE_SOURCE_DIR "/tests/golden/" + folder))
    names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

inline std::vector<GoldenCase> golden_cases(const std::string& file,
                                            const std::string& folder = "config") {
  std::ifstream in(concat(BRIGADE_SOURCE_DIR, "/tests/golden/", folder, "/", file, ".txt"));
  std::vector<GoldenCase> cases;
  bool says = false;
  for (std::string line; std::getline(in, line);) {
    const auto title = strip_prefix(line, "=== ");
    if (title) {
      says = *title == "says";
      if (!says && *title != "over") cases.push_back({std::string(*title), {}});
      if (!says) cases.back().texts.emplace_back();
    } else if (!says) {
      cases.back().texts.back() += line + "\n";
    }
  }
  return cases;
}

}  // namespace brigade
