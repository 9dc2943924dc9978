#include "pipeline/cli/commands/load.h"

#include "pipeline/cli/commands/print.h"

namespace brigade {

LoadedGraph load_and_show(const GraphFiles& files, const StageTypes& types) {
  LoadedGraph loaded = load_files(files, types);
  print_error(loaded.messages());
  return loaded;
}

PlannedGraph plan_and_show(const GraphFiles& files, const StageTypes& types) {
  PlannedGraph planned = plan_files(files, types);
  print_error(planned.messages);
  return planned;
}

}  // namespace brigade
