#pragma once

// The value of a key as one would write it: for `plan --yaml`, and for the defaults in messages,
// help and docs.

#include <string>

#include "pipeline/config/language/key_table.h"
#include "pipeline/config/yaml/yaml_tree.h"

namespace brigade {

/// Null where the value stands for "not given": no batch, no cpus.
YamlNode print_key(const KeySpec& key, KeyField field);

/// What holds where the key is not given: the initialiser of its member, or what the table says
/// about it; "" where there is nothing to say.
std::string key_default(const KeySpec& key);

}  // namespace brigade
