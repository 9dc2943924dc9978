#pragma once

// A key of the table as text: its values, its scope, its value and its default, as a user
// writes them. For messages, help, docs, `plan --yaml` and the plan's JSON. Pure functions.

#include <string>

#include "pipeline/config/language/key_table.h"
#include "pipeline/config/yaml/yaml_tree.h"

namespace brigade {

/// What a key takes, for messages: "a whole number from 1 to 256", "true or false".
std::string key_takes(const KeySpec& key);

/// "batch", "restart.policy": the key and the mapping it stands in, if that has a key.
std::string key_path(const KeySpec& key);

/// Where a key stands, for messages: "of a stage", "at the top level", "in `restart:`".
std::string scope_text(KeyScope scope);

/// A duration says its unit: "backoff_ns".
std::string plan_field_name(const KeySpec& key);

/// Null where the value stands for "not given": no batch, no cpus.
YamlNode print_key(const KeySpec& key, KeyField field);

/// What holds where the key is not given: the initialiser of its member, or what the table says
/// about it; "" where there is nothing to say.
std::string key_default(const KeySpec& key);

}  // namespace brigade
