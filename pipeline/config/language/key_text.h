#pragma once

// How a key of the table is told: in messages, help, docs, and in the plan's JSON. Pure functions.

#include <string>

#include "pipeline/config/language/key_table.h"

namespace brigade {

/// What a key takes, for messages: "a whole number from 1 to 256", "true or false".
std::string key_takes(const KeySpec& key);

/// "batch", "restart.policy": the key and the mapping it stands in, if that has a key.
std::string key_path(const KeySpec& key);

/// Where a key stands, for messages: "of a stage", "at the top level", "in `restart:`".
std::string scope_text(KeyScope scope);

/// A duration says its unit: "backoff_ns".
std::string plan_field_name(const KeySpec& key);

}  // namespace brigade
