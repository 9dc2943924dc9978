#pragma once

// Loads a graph from texts in hand, with fake stage types and fake files: what the tests of the
// configuration share. The folder of every text is /graphs, the working directory /home/anna.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/config/load_graph.h"
#include "tests/support/fake_facts.h"
#include "tests/support/fake_types.h"

namespace brigade {

struct LoadText {
  std::vector<std::string> sets;
  std::optional<std::uint64_t> limit;
  std::map<std::string, std::string> environment;
  FakeFacts facts = golden_facts();

  LoadedGraph files(std::vector<SourceFile> texts) {
    const auto variable = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = environment.find(name);
      if (found == environment.end()) return std::nullopt;
      return found->second;
    };
    return load_graph(std::move(texts), {.files = {},
                                         .sets = sets,
                                         .limit = limit,
                                         .types = fake_stage_types(),
                                         .facts = facts,
                                         .environment = variable,
                                         .working_directory = "/home/anna"});
  }
  LoadedGraph operator()(const std::string& text) { return files({{"g.yaml", text, "/graphs"}}); }
};

/// The messages about a text; empty when it is fine.
inline std::string messages_of(const std::string& text) { return LoadText()(text).messages(); }

/// A graph with `stage` between a producer of images and a consumer: `"grow: {transform: ...}"`.
inline std::string with_stages(const std::string& stages) {
  return "stages:\n"
         "  images: {producer: idx_images, params: {images: /data/train-images.gz, "
         "labels: /data/train-labels.gz}}\n" +
         stages;
}

}  // namespace brigade
