#pragma once

// The keys of the YAML for people at a terminal, made from the table of keys: `brigade stages
// --keys`. The same table is in docs/KEYS.md.

#include <string>

namespace brigade {

/// A part for each place where keys stand: what a key takes, its default and what it is for.
std::string key_help();

}  // namespace brigade
