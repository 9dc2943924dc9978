#include "pipeline/plan/graph_printer.h"
#include "pipeline/process/commands/commands.h"
#include "pipeline/process/commands/load.h"
#include "pipeline/process/commands/print.h"

namespace brigade {

int draw_command(const DrawArguments& arguments, const StageTypes& types) {
  const LoadedGraph loaded = load_and_show(arguments.graph, types);
  if (!loaded.graph) return 2;
  if (arguments.format == "dot") {
    print(draw_dot(*loaded.graph));
  } else if (arguments.format == "svg") {
    print(draw_svg(*loaded.graph));
  } else {
    print(draw_ascii(*loaded.graph));
  }
  return 0;
}

}  // namespace brigade
