#pragma once

// The stage keys whose values have forms of their own: on_error, restart, device, cpus,
// checkpoint.every. Part
// of the spec parser.

#include <string>
#include <vector>

#include "pipeline/config/spec_reader.h"

namespace brigade {

Given<OnError> parse_on_error(const YamlEntry& entry, const KeySpec& key, SpecReader& read);
Given<RestartSpec> parse_restart(const YamlEntry& entry, const KeySpec& key, SpecReader& read);
/// A whole number of samples, or a duration; neither is 0.
Given<CheckpointEvery> parse_every(const YamlEntry& entry, const KeySpec& key, SpecReader& read);
/// A duration alone, or a mapping.
Given<StallSpec> parse_stall(const YamlEntry& entry, const KeySpec& key, SpecReader& read);
Given<std::string> parse_device(const YamlEntry& entry, const KeySpec& key, SpecReader& read);
/// Sorted, without repetitions.
std::vector<int> parse_cpus(const YamlEntry& entry, const KeySpec& key, SpecReader& read);

}  // namespace brigade
