#pragma once

// Files of tests/golden that ask and answer: a line after `> ` is a command, what follows is its
// answer, `=== NAME` begins anew and `# ` begins a remark. UPDATE_GOLDEN=1 writes the answers anew.

#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <brigade/text.h>
#include "tests/support/golden.h"

namespace brigade {

/// At the first separator.
inline std::pair<std::string, std::string> parted(std::string_view text, std::string_view at) {
  const std::size_t found = text.find(at);
  if (found == text.npos) return {std::string(text), {}};
  return {std::string(text.substr(0, found)), std::string(text.substr(found + at.size()))};
}

inline std::vector<std::string> pieces(std::string text, std::string_view separator = " | ") {
  std::vector<std::string> out;
  while (!text.empty()) {
    auto [piece, rest] = parted(text, separator);
    out.push_back(std::move(piece));
    text = std::move(rest);
  }
  return out;
}

/// \n, \t, \r, \x00, and \{300:ab} for ab 300 times.
inline std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char next = text[at] == '\\' && at + 1 < text.size() ? text[at + 1] : ' ';
    if (next == ' ') {
      out += text[at];
    } else if (next == 'x') {
      out += static_cast<char>(std::stoi(std::string(text.substr(at + 2, 2)), nullptr, 16));
      at += 3;
    } else if (next == '{') {
      const std::size_t end = text.find('}', at);
      const auto [count, what] = parted(text.substr(at + 2, end - at - 2), ":");
      for (int i = std::stoi(count); i > 0; --i) out += unescaped(what);
      at = end;
    } else {
      out += next == 'n' ? '\n' : next == 't' ? '\t' : next == 'r' ? '\r' : next;
      ++at;
    }
  }
  return out;
}

/// The answer to a command that a Session does not know: no golden file has it.
inline std::string unknown_command(std::string_view line) {
  return concat("unknown command: ", line, "\n");
}

/// Compares the answers of one Session for each `=== NAME` with those in tests/golden/FILE.
template <class Session>
void expect_session(const std::string& file) {
  std::ifstream in(concat(BRIGADE_SOURCE_DIR, "/tests/golden/", file));
  std::string all;
  std::unique_ptr<Session> session;
  for (std::string line; std::getline(in, line);) {
    const auto command = strip_prefix(line, "> ");
    if (line.starts_with("=== ")) session = std::make_unique<Session>();
    if (line.starts_with("=== ") || line.starts_with("# ") || command) all += line + "\n";
    if (command) all += session->answer(*command);
  }
  expect_golden(file, all);
}

}  // namespace brigade
