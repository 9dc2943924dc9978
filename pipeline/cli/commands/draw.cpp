#include <brigade/text.h>
#include "pipeline/cli/commands/commands.h"
#include "pipeline/cli/commands/load.h"
#include "pipeline/cli/commands/print.h"
#include "pipeline/cli/draw/graph_printer.h"

namespace brigade {
namespace {

constexpr const char* kDrawExamples = R"(Examples:
  brigade graph train.yaml
  brigade graph train.yaml --format dot | dot -Tsvg > train.svg     (from the package graphviz))";

struct DrawArguments {
  GraphFiles graph;
  std::string format = "ascii";
};

std::string known_format(const std::string& format) {
  if (format == "ascii" || format == "dot") return "";
  return concat("found ", quote(format),
                ", expected ascii or dot; Graphviz renders dot as an image: `brigade graph FILE "
                "--format dot | dot -Tsvg`");
}

void declare(Options& options, DrawArguments& arguments) {
  options.graph(arguments.graph);
  options.outputs(arguments.graph);
  options.text("--format", arguments.format, "output format (ascii)", "ascii|dot");
  options.check("--format", known_format);
}

int draw(const DrawArguments& arguments, const StageTypes& types, std::int64_t) {
  const LoadedGraph loaded = load_and_show(arguments.graph, types);
  if (!loaded.graph) return 2;
  print(arguments.format == "dot" ? draw_dot(*loaded.graph) : draw_ascii(*loaded.graph));
  return 0;
}

}  // namespace

Command graph_command() {
  return make_command<DrawArguments>("graph", "draw the graph", kDrawExamples, declare, draw);
}

}  // namespace brigade
