#pragma once

// Plugins that are not there: what a PluginReader gives for them is written down by the test.

#include <map>
#include <string>

#include <brigade/text.h>
#include "pipeline/config/graph/plugin_reader.h"
#include "tests/support/config/fake_types.h"

namespace brigade {

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

}  // namespace brigade
