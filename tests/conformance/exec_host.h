#pragma once

// Bodies of stage types behind brigade/worker.h: this program as the program of `exec:`. What it
// knows of its tasks it has from that C API alone; so a graph whose stages are such programs must
// give what it gives with the stages themselves.

#include "pipeline/plan/plan.h"

namespace brigade::conformance {

/// Turns stages of the plan into programs of `exec:`: transforms that give one sample for each, and
/// synthetic sources. `wrong`: these change a byte that they write. How many.
int make_programs(Plan& plan, bool wrong = false);

/// Of main(): what such a program does. Nothing: the arguments do not ask for that.
void run_if_program(int argc, char** argv);

}  // namespace brigade::conformance
