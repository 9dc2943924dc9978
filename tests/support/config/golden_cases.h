#pragma once

// The graphs of tests/golden, many in a file: after a line `=== NAME` the graph, after `=== over` a
// file laid over it, after `=== says` what comes of it. The first lines of a graph may be
// directives: `#! --set KEY=VALUE`, `#! env NAME=VALUE`, `#! file PATH HEADER`, `#! limit N`; in
// graphs and plans `#! with KEY=VALUE; KEY=VALUE`: with these, what differs is said; in sources
// `#! file NAME TEXT`, where \n is a line's end, and a NAME that ends in / is an empty folder.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <brigade/text.h>
#include "tests/support/config/directives.h"

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

/// "a; b" -> a, b.
inline std::vector<std::string> semicolon_parts(const std::string& text) {
  std::vector<std::string> found;
  for (std::size_t at = 0, end = 0; end != text.npos; at = end + 2) {
    end = text.find("; ", at);
    found.push_back(text.substr(at, end - at));
  }
  return found;
}

/// What comes of a graph: a text of lines, of which each is different.
struct Answer {
  std::string lines;
  bool fine = true;  ///< else they are messages
};

/// What `answer(settings)` says of a graph, and for each `#! with` which lines go and come.
template <class Answering>
std::string answers(const std::string& text, Answering answer) {
  const std::string base = answer(std::vector<std::string>()).lines;
  const auto lines_that_lack = [](const std::string& all, const std::string& other, char sign) {
    std::string said;
    for (const std::string_view line : split(all, '\n'))
      if (!line.empty() && concat("\n", other).find(concat("\n", line, "\n")) == other.npos)
        said += concat(sign, " ", line, "\n");
    return said;
  };
  std::string all = base;
  for (const std::string& with : directives(text, "with")) {
    const auto [other, fine] = answer(semicolon_parts(with));
    all += concat("with ", with, other == base ? ": the same\n" : ":\n");
    all += fine ? lines_that_lack(base, other, '-') + lines_that_lack(other, base, '+')
                : lines_that_lack(other, "", ' ');
  }
  return all;
}

}  // namespace brigade
