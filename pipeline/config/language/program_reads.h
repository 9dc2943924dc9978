#pragma once

// A graph of which a program reads only
// some stages (Pipeline::read()).

#include <string>
#include <vector>

#include "pipeline/config/language/graph_spec.h"
#include "pipeline/config/yaml/diagnostics.h"

namespace brigade {

/// The output through which a program reads a producer or a transform: "augment_output".
std::string output_of(const std::string& stage);

/// What no stage reads, where there is no consumer: such a graph is written for a program, which
/// reads these. None where a stage has mistakes.
std::vector<std::string> left_to_program(const GraphSpec& graph);

/// What is above `stages` remains, and the source that numbers its classes; no checkpoint. A
/// consumer of another type becomes a `consumer: application` that reads the same; beneath a
/// producer or a transform comes one, named output_of(it). Where nobody says how large batches are,
/// they have one sample. A name that the graph does not have is an error that lists those it has.
GraphSpec read_by_program(GraphSpec graph, const std::vector<std::string>& stages,
                          Diagnostics& diagnostics);

}  // namespace brigade
