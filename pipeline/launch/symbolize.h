#pragma once

// Makes names in a backtrace readable. The process that crashes cannot: it may not allocate any
// more. The one that shows its lines can.

#include <string>

namespace brigade {

/// A line of a backtrace (crash_handler.h) with its C++ name as it is written in the source:
/// "lib.so(_ZN7brigade4stepEv+0x1f) [0x7f]" becomes "lib.so(brigade::step()+0x1f) [0x7f]". Other
/// lines, and names that are none of C++, stay as they are.
std::string readable_backtrace(std::string line);

}  // namespace brigade
