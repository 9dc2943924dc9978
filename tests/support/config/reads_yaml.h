#pragma once

// Texts of YAML and what is said about them: what the tests of the language's parsers share.

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "pipeline/config/yaml/yaml_reader.h"

namespace brigade {

class ReadsYaml : public testing::Test {
 protected:
  /// The tree lives until the next call.
  const YamlNode& read(std::string text) {
    const int file = source_.add({"g.yaml", std::move(text), "/"});
    tree_ = read_yaml(source_, file, diagnostics_).value();
    return tree_;
  }
  std::string messages() const { return diagnostics_.render(source_); }

  SourceText source_;
  Diagnostics diagnostics_;

 private:
  YamlNode tree_;
};

}  // namespace brigade
