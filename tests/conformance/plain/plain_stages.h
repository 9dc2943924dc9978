#pragma once

// What the stage types of the plain loop do with one sample, and their parameters.

#include <optional>
#include <string>
#include <vector>

#include <brigade/record.h>
#include "pipeline/config/graph/valid_graph.h"
#include "tests/conformance/plain/plain_tensor.h"

namespace brigade::conformance {

/// The parameter as the graph says it; of a link of a fused stage "LINK.NAME".
template <class T>
T param(const ValidStage& stage, const std::string& name) {
  T value{};
  for (const auto& [other, written] : stage.param_values)
    if (other == name) BRIGADE_CHECK(parse_param(written, value).ok(), name);
  return value;
}

/// The tensor `data` of the producer `synthetic`.
PlainTensor synthetic(const ValidStage& stage, std::uint64_t graph_seed, std::uint64_t index);

/// Of a file of weights, that of sample `index`: what `weights: "${WEIGHTS_40}"` says of 40
/// samples.
double weight_of(std::uint64_t index);

/// What a mixture of `synthetic` has at an index.
struct MixedSample {
  const ValidStage* part;
  std::uint64_t index;  ///< of the part's
};
std::vector<MixedSample> mixed_samples(const ValidStage& mix, std::uint64_t seed);

/// The ids of an epoch of a producer whose samples come by such weights, or of a mixture, in
/// the order of the source.
std::vector<std::uint64_t> drawn_ids(const ValidStage& producer, std::uint64_t seed,
                                     std::uint32_t epoch, std::uint64_t found);

/// What all links of a stage leave behind: what they wrote, and what passed them; nothing where one
/// drops the sample.
std::optional<PlainTensors> after_links(const ValidStage& stage, PlainTensors in,
                                        const SampleInfo& info, std::uint64_t seed);

/// Whether a stage makes several samples of each, and how many (1 of others).
bool makes_several(const ValidStage& stage);
std::uint64_t fan_out(const ValidStage& stage);

/// What such a stage writes of one sample.
std::vector<PlainTensors> outputs_of_each(const ValidStage& stage, const PlainTensors& in,
                                          const SampleInfo& info, std::uint64_t seed);

}  // namespace brigade::conformance
