#pragma once

// Names of files that must not be taken for YAML, variables, wildcards or Python.

#include <string>
#include <vector>

#include <brigade/text.h>

namespace brigade {

/// Whatever people, and people who would do harm, call their files.
inline std::vector<std::string> hostile_names() {
  std::vector<std::string> names{"a\n    plugin: evil.so\n    #",
                                 "a\"\n    plugin: evil.so\n    #",
                                 "a', plugin: evil.so #",
                                 "a #idx3",
                                 "a: b",
                                 "- a",
                                 " a ",
                                 "null",
                                 "~",
                                 "@labels@",
                                 "@folder@",
                                 "${HOME}",
                                 "$$",
                                 "$",
                                 "{a: b}",
                                 "[a]",
                                 "&a",
                                 "*a",
                                 "!a",
                                 "\\x41\\",
                                 "%YAML",
                                 "---",
                                 "\xC3\xA9\xC2\x85\xE2\x80\xA8\xE2\x80\xAE",
                                 "\xEF\xBB\xBF a",
                                 "\xEF\xBF\xBE",
                                 "\xEF\xBF\xBF",
                                 "\xF0\x9F\x90\x88",
                                 "@"};
  for (char c = 1; c < 0x7F; ++c)
    if (c != '/') names.push_back(concat('a', c, 'b'));
  names.push_back("\x7F");
  return names;
}

}  // namespace brigade
