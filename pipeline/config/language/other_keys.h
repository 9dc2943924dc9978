#pragma once

// Keys under their names in other libraries: `num_workers` of torch's DataLoader is
// `replicas:` here. For messages about unknown keys, parameters and options. Pure functions.

#include <optional>
#include <string>
#include <string_view>

#include "pipeline/config/language/key_table.h"

namespace brigade {

/// A line of help: "write `replicas:` at a stage: processes that share the stage's work"; nothing
/// where no library that we know has that name. `scope`: where it was written; none: below
/// `params:`. Capitals, `_` and `-` do not count.
std::optional<std::string> other_key_help(std::string_view name, std::optional<KeyScope> scope);

/// On the command line, of a key of either name: "--set epochs=3", "--set stages.STAGE.batch=64";
/// nothing where there is no such key. `value`: empty: not known.
std::optional<std::string> key_as_setting(std::string_view name, std::string_view value);

}  // namespace brigade
