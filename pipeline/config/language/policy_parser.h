#pragma once

// Parses the keys whose values have special forms. A value that does not
// fit is reported, and does not change its target. Part of the spec parser.

#include <string>
#include <utility>
#include <vector>

#include "pipeline/config/language/spec_reader.h"

namespace brigade {

bool parse_on_error(const YamlEntry& entry, const KeySpec& key, SpecReader& read, OnError& out);
/// A policy alone, or a mapping.
bool parse_restart(const YamlEntry& entry, const KeySpec& key, SpecReader& read, RestartSpec& out);
/// A duration alone, or a mapping.
bool parse_stall(const YamlEntry& entry, const KeySpec& key, SpecReader& read, StallSpec& out);
/// Sorted, without repetitions.
bool parse_cpus(const YamlEntry& entry, const KeySpec& key, SpecReader& read,
                std::vector<int>& out);
/// Names of environment variables, with their values.
bool parse_variables(const YamlEntry& entry, const KeySpec& key, SpecReader& read,
                     std::vector<std::pair<std::string, std::string>>& out);
Given<std::string> parse_device(const YamlEntry& entry, const KeySpec& key, SpecReader& read);
/// A whole number of samples, or a duration; neither is 0.
Given<CheckpointEvery> parse_every(const YamlEntry& entry, const KeySpec& key, SpecReader& read);

}  // namespace brigade
