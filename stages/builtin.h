#pragma once

// The stage types of the program `brigade`, in one list: builtin.cpp.

#include <brigade/export.h>
#include <brigade/stage_types.h>

namespace brigade {

/// A fresh list; embedding programs add their own types to it.
BRIGADE_API StageTypes builtin_stage_types();

}  // namespace brigade
