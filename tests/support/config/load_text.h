#pragma once

// Loads a graph from texts in hand, with fake stage types and fake files: what the tests of the
// configuration share. The folder of every text is /graphs, the working directory /home/anna. The
// bodies are in load_text.cpp, which instantiates the fake types once for all tests.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/config/validate/load_graph.h"
#include "tests/support/config/fake_metadata.h"
#include "tests/support/config/fake_plugins.h"

namespace brigade {

/// The types of fake_types.h.
const StageTypes& fake_stage_types();

struct LoadText {
  const StageTypes* types = &fake_stage_types();
  std::vector<std::string> sets;
  std::optional<std::uint64_t> limit;
  std::map<std::string, std::string> environment;
  FakeMetadata metadata = golden_metadata();
  FakePlugins plugins = golden_plugins();

  /// Does what the first lines of a golden text say (golden_cases.h).
  void obey(const std::string& text);
  LoadedGraph files(std::vector<SourceFile> texts);
  LoadedGraph operator()(const std::string& text);
};

/// The messages about a text; empty when it is fine.
std::string messages_of(const std::string& text);

/// A graph of this and a producer `images` of images and labels.
std::string with_stages(const std::string& stages);

}  // namespace brigade
