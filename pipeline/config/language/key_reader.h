#pragma once

// Reads the value of a key into the member that the key table names. Part of the spec parser.

#include "pipeline/config/language/spec_reader.h"

namespace brigade {

/// False, with the member as it was, where the value does not fit (said already).
bool read_key(const YamlEntry& entry, const KeySpec& key, KeyField field, SpecReader& read);

/// Reads every key of the mapping, all of which `keys` holds.
template <HoldsKeys Keys>
void read_keys(const YamlNode& map, KeyScope scope, Keys& keys, SpecReader& read) {
  read.each(map, scope, [&](const YamlEntry& entry, const KeySpec& key) {
    if (const auto field = find_field(key, keys)) read_key(entry, key, *field, read);
  });
}

}  // namespace brigade
