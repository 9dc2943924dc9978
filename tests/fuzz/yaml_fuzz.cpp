// Bytes -> diagnostics or a graph: never a crash, never an exception, never a hang. A graph that is
// accepted comes back from its effective form. The bytes are a file, and after each line "%%" a
// file laid over it, or a setting where it begins with "--set ".

#include <brigade/check.h>
#include <brigade/text.h>
#include "pipeline/config/graph/effective_yaml.h"
#include "tests/fuzz/entry.h"
#include "tests/support/config/load_text.h"

namespace brigade {
namespace {

constexpr std::string_view kNextText = "\n%%\n";

}  // namespace

void fuzz(std::string_view bytes) {
  LoadText load;
  load.environment = {{"HOME", "/home/anna"}, {"EMPTY", ""}};
  std::vector<SourceFile> texts;
  while (true) {
    const std::size_t end = bytes.find(kNextText);
    const std::string_view text = bytes.substr(0, end);
    if (const auto setting = strip_prefix(text, "--set "); setting && !texts.empty()) {
      load.sets.emplace_back(*setting);
    } else {
      texts.push_back({"g.yaml", std::string(text), "/graphs"});
    }
    if (end == bytes.npos) break;
    bytes.remove_prefix(end + kNextText.size());
  }
  const LoadedGraph loaded = load.files(std::move(texts));
  const std::string messages = loaded.messages();
  BRIGADE_CHECK(loaded.graph.has_value() == loaded.diagnostics.ok(), messages);
  BRIGADE_CHECK(loaded.graph || !messages.empty());
  if (!loaded.graph) return;
  const std::string effective = effective_yaml(*loaded.graph);
  const LoadedGraph again = LoadText()(effective);
  BRIGADE_CHECK(again.graph.has_value(), again.messages(), effective);
  BRIGADE_CHECK(effective_yaml(*again.graph) == effective, effective);
}

}  // namespace brigade
