#pragma once

// Graphs whose producers are inputs: the same text with an application in the place of producers,
// and what a program gives to each, so that the plain loop knows it as well.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pipeline/application/input_queue.h"
#include "pipeline/config/graph/valid_graph.h"
#include "tests/conformance/plain/plain_tensor.h"

namespace brigade::conformance {

/// The samples of each epoch; nothing: a slot that the program lets go of.
using Feed = std::vector<std::vector<std::optional<PlainTensors>>>;
/// By input.
using Feeds = std::map<std::string, Feed>;

/// The producers of a graph, in its order.
std::vector<std::string> producers_of(const ValidGraph& graph);

/// `yaml`, which is that of `graph`, with inputs of the same tensors in the place of these
/// producers. They have the producer's `batch:` and `chunk:`. `drop_last:`, which cannot be below a
/// stream, is left out.
std::string with_inputs(std::string yaml, const ValidGraph& graph,
                        const std::set<std::string>& inputs);

/// For those of `graph`, as it was before: what its producer would give, an epoch shorter than the
/// one before where there are two, and every 11th sample let go of.
Feeds feeds_of(const ValidGraph& graph, const std::set<std::string>& inputs);

/// Gives all of it, on this thread and two more: slots are written and submitted in any order.
void give_all(InputQueue& input, const Feed& feed, std::uint64_t seed);

}  // namespace brigade::conformance
