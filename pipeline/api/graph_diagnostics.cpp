#include "pipeline/api/graph_diagnostics.h"

#include <brigade/text.h>
#include "base/printable.h"
#include "pipeline/config/yaml/source_text.h"

namespace brigade {
namespace {

void add_diagnostics(std::vector<GraphDiagnostic>& all, const Diagnostics& found,
                     const SourceText& source) {
  for (const Diagnostic* diagnostic : found.sorted()) {
    const ShownPlace at = shown_place(source, *diagnostic);
    GraphDiagnostic& shown = all.emplace_back();
    shown.is_error = diagnostic->severity == Severity::error;
    shown.file = printable(at.file);
    shown.line = at.line;
    shown.column = at.column;
    if (at.line > 0) shown.source = printable(source.line(diagnostic->span.mark));
    shown.message = printable(diagnostic->message);
    for (const std::string& line : diagnostic->help)
      shown.help += concat(shown.help.empty() ? "" : "\n", printable(line));
  }
}

}  // namespace

std::vector<GraphDiagnostic> diagnostics_of(const PlannedGraph& planned) {
  std::vector<GraphDiagnostic> all;
  add_diagnostics(all, planned.loaded.diagnostics, planned.loaded.source);
  add_diagnostics(all, planned.problems, planned.loaded.source);
  if (planned.plan)
    for (const std::string& warning : planned.plan->warnings) all.push_back({.message = warning});
  return all;
}

Error mistakes_of(const PlannedGraph& planned, std::vector<GraphDiagnostic>* found) {
  if (found != nullptr) *found = diagnostics_of(planned);
  return Error{std::string(trim(planned.messages))};
}

}  // namespace brigade
