#pragma once

// The stage types that the program `brigade` knows, in one list that can be read: builtin.cpp.

#include <brigade/export.h>
#include <brigade/stage_types.h>

namespace brigade {

/// A fresh list; embedding programs add their own types to it.
BRIGADE_API StageTypes builtin_stage_types();

}  // namespace brigade
