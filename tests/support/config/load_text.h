#pragma once

// Loads a graph from texts in hand, with fake stage types and fake files: what the tests of the
// configuration share. The folder of every text is /graphs, the working directory /home/anna. The
// bodies are in load_text.cpp, which instantiates the fake types once for all tests.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/config/graph/plugin_reader.h"
#include "pipeline/config/validate/load_graph.h"
#include "tests/support/config/fake_metadata.h"
#include "tests/support/config/fake_types.h"

namespace brigade {

/// Plugins that are not there: what a PluginReader gives for them is written down by the test.
class FakePlugins : public PluginReader {
 public:
  FakePlugins& has(const std::string& path, StageTypes types) {
    plugins_.insert_or_assign(path, Result<StageTypes>(std::move(types)));
    return *this;
  }
  FakePlugins& broken(const std::string& path, std::string why) {
    plugins_.insert_or_assign(path, Result<StageTypes>(Error{std::move(why)}));
    return *this;
  }

  Result<StageTypes> read(const std::string& path) override {
    ++reads;
    const auto found = plugins_.find(path);
    return found == plugins_.end() ? Result<StageTypes>(Error{"is not known to the test"})
                                   : found->second;
  }

  int reads = 0;

 private:
  std::map<std::string, Result<StageTypes>> plugins_;
};

namespace fake {

struct JitterParams {
  double amplitude = 0.1;
};

inline Contract<JitterParams> jitter(const std::string& name) {
  return Contract<JitterParams>(name, "Adds noise.")
      .transform()
      .param("amplitude", &JitterParams::amplitude, 0, 10, "largest noise")
      .rest_passes();
}

}  // namespace fake

/// The plugins that the golden graphs name.
inline FakePlugins golden_plugins() {
  const auto types = [](std::initializer_list<const char*> names) {
    StageTypes list;
    for (const char* name : names) list.add<fake::NoStage>(fake::jitter(name));
    return list;
  };
  FakePlugins plugins;
  plugins.has("/plugins/jitter.so", types({"jitter", "shake"}));
  plugins.has("/plugins/again.so", types({"tremble", "jitter"}));
  plugins.has("/plugins/count.so", types({"count"}));
  plugins.has("/plugins/twice.so", types({"twice", "twice"}));
  plugins.has("/plugins/empty.so", types({}));
  plugins.broken("/plugins/text.so", "cannot be opened: invalid ELF header");
  return plugins;
}

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
