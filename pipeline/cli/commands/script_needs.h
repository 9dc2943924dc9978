#pragma once

// Asks the Python interpreter whether a training program would run here, for `brigade init`.

#include <string>

namespace brigade {

/// $BRIGADE_PYTHON (which the Python package sets to its own interpreter), or python3.
std::string script_python();

/// What that interpreter lacks for train.py, and how to install it: a line; empty: nothing. Starts
/// the interpreter, which imports nothing of torch's.
std::string missing_for_script();

}  // namespace brigade
