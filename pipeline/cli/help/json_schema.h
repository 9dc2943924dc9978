#pragma once

// The language as a JSON schema (draft 7), for editors: keys, values, stage types and their
// parameters, each with its help, made from the table of keys and the contracts. Says less than
// `brigade check`: what a value means in its place is not for a schema. Pure.

#include <string>

#include <brigade/stage_types.h>

namespace brigade {

std::string language_schema(const StageTypes& types);

}  // namespace brigade
