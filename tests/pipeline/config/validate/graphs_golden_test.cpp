// What a graph is after the check, with its defaults: tests/golden/graphs, in the form of
// tests/support/config/golden_cases.h. `#! show A; B` leaves the lines that have one of these;
// without it, keys of a stage that have their default are omitted.

#include "pipeline/config/graph/effective_yaml.h"
#include "pipeline/config/language/policy_parser.h"
#include "pipeline/config/language/source_parser.h"
#include "pipeline/config/language/subset_parser.h"
#include "pipeline/config/validate/passed_tensors.h"

#include <gtest/gtest.h>

#include "pipeline/config/yaml/yaml_reader.h"
#include "pipeline/config/yaml/yaml_writer.h"
#include "tests/support/config/default_keys.h"
#include "tests/support/config/golden_cases.h"
#include "tests/support/config/load_text.h"
#include "tests/support/golden.h"

namespace brigade {
namespace {

/// A line per value: "stages.a.batch: 4".
void flatten(const YamlNode& node, const std::string& path, std::string& out) {
  if (!node.is_map() || node.entries.empty()) {
    YamlNode one = YamlNode::map();
    one.entries.push_back({path, {}, node});
    out += write_yaml(one);
    return;
  }
  for (const YamlEntry& entry : node.entries)
    flatten(entry.value, path.empty() ? entry.key : concat(path, ".", entry.key), out);
}

std::string types_text(const Ports& ports) {
  std::vector<std::string> texts;
  for (const TensorType& tensor : ports.tensors) texts.push_back(tensor.text());
  return join(texts, ", ");
}

/// What the effective form does not say.
std::string stage_text(const ValidStage& stage) {
  std::string text = concat(stage.name, stage.batched ? " takes batches\n" : " takes samples\n");
  if (!stage.exec.empty()) text += concat(stage.name, " runs in: ", stage.exec_folder, "\n");
  for (const ValidSource& source : stage.sources)
    text += concat(stage.name, " reads ", source.port, ": ", types_text(source.tensors),
                   source.batch == 0 ? "" : concat(", batch ", source.batch), "\n");
  text += concat(stage.name, " gives: ", types_text(stage.outputs), "\n");
  text += concat(stage.name, " makes of each: ", stage.outputs_per_input, "\n");
  text += concat(stage.name, " has samples: ", stage.samples, "\n");
  for (const PassedTensor& passed : stage.passed)
    text += concat(stage.name, " passes: ", passed.name, " of ", passed.source, "\n");
  for (const auto& [name, value] : stage.param_values)
    text += concat(stage.name, " has the parameter ", name, ": ", value.text, "\n");
  return text;
}

std::string only(const std::string& all, const std::vector<std::string>& shows) {
  if (shows.empty()) return without_default_keys(all);
  std::string left;
  const std::vector<std::string> words = semicolon_parts(shows[0]);
  for (const std::string_view line : split(all, '\n'))
    if (std::any_of(words.begin(), words.end(),
                    [&](const auto& word) { return line.find(word) != line.npos; }))
      left += concat(line, "\n");
  return left;
}

std::string graph_text(const ValidGraph& graph) {
  SourceText source;
  Diagnostics diagnostics;
  const int file = source.add({"effective.yaml", effective_yaml(graph), "/"});
  std::string text;
  flatten(read_yaml(source, file, diagnostics).value(), "", text);
  for (const ValidStage& stage : graph.stages) text += stage_text(stage);
  return text;
}

Answer checked(const std::vector<SourceFile>& files, const std::vector<std::string>& settings) {
  LoadText load;
  for (const SourceFile& file : files) load.obey(file.text);
  load.sets.insert(load.sets.end(), settings.begin(), settings.end());
  const LoadedGraph loaded = load.files(files);
  if (!loaded.graph) return {loaded.messages(), false};
  const std::string text = graph_text(*loaded.graph);
  LoadText again;
  for (const SourceFile& file : files) again.obey(file.text);
  again.sets.clear();
  const LoadedGraph reloaded =
      again.files({{"again.yaml", effective_yaml(*loaded.graph), "/graphs"}});
  EXPECT_TRUE(reloaded.graph) << reloaded.messages() << effective_yaml(*loaded.graph);
  if (reloaded.graph) {
    EXPECT_EQ(graph_text(*reloaded.graph), text) << "its effective form is another graph";
  }
  std::string marks;
  for (const ValidStage& stage : loaded.graph->stages)
    marks += concat(stage.name, " stands in file ", stage.mark.file, " at ", stage.mark.line, ":",
                    stage.mark.column, "\n");
  return {only(text + marks, directives(files[0].text, "show")) + loaded.messages()};
}

class GraphsGolden : public testing::TestWithParam<std::string> {};

TEST_P(GraphsGolden, AreChecked) {
  std::string all;
  for (const auto& [name, texts] : golden_cases(GetParam(), "graphs")) {
    SCOPED_TRACE(name);
    std::vector<SourceFile> files;
    for (const std::string& text : texts) {
      all += concat("=== ", files.empty() ? name : "over", "\n", text);
      files.push_back(
          {files.empty() ? "g.yaml" : "over.yaml", text, files.empty() ? "/graphs" : "/other"});
    }
    all +=
        concat("=== says\n",
               answers(texts[0], [&](const auto& settings) { return checked(files, settings); }));
  }
  expect_golden(concat("graphs/", GetParam(), ".txt"), all);
}

INSTANTIATE_TEST_SUITE_P(Files, GraphsGolden, testing::ValuesIn(golden_files("graphs")),
                         [](const auto& file) { return file.param; });

}  // namespace
}  // namespace brigade
