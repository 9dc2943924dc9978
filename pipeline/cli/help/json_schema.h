#pragma once

// The language as a JSON schema (draft 7), for editors: keys, values, stage types and
// their parameters, each with its help, made from the table of keys and the contracts. It
// checks less than `brigade check`: a schema cannot check values in their context. Pure.

#include <string>

#include <brigade/stage_types.h>

namespace brigade {

std::string language_schema(const StageTypes& types);

}  // namespace brigade
