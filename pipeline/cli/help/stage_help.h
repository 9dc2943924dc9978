#pragma once

// The output of `brigade stages`: stage types, made from their contracts, and with
// --keys the keys of the YAML, made from the table of keys (as docs/KEYS.md is). Pure.

#include <string>

#include <brigade/stage_types.h>

namespace brigade {

/// Producers, transforms and consumers, a line each.
std::string stage_list(const StageTypes& types);

/// One stage type: ports, parameters with type, range, default and help, what it reports, and an
/// example to paste.
std::string stage_description(const StageType& type);

/// A part for each place where keys stand: what a key takes, its default and what it is for.
std::string key_help();

}  // namespace brigade
