#pragma once

// The commands of `brigade`, one file each: from arguments to an exit code (0 done, 1 the run
// failed, 2 the command or the YAML is wrong, 128 + signal stopped by the user).

#include "pipeline/process/app.h"
#include "pipeline/process/commands/command_line.h"

namespace brigade {

/// `started_ns`: CLOCK_MONOTONIC when the program started.
int run_command(const RunArguments& arguments, const StageTypes& types, std::int64_t started_ns);
int check_command(const CheckArguments& arguments, const StageTypes& types);
int plan_command(const PlanArguments& arguments, const StageTypes& types);
int draw_command(const DrawArguments& arguments, const StageTypes& types);
int stages_command(const StagesArguments& arguments, const StageTypes& types);
int sample_command(const SampleArguments& arguments, const StageTypes& types);
int init_command(const InitArguments& arguments, const StageTypes& types);
int holders_command(const HoldersArguments& arguments);
int doctor_command(const StageTypes& types);
int completions_command(const CompletionsArguments& arguments, const StageTypes& types);

}  // namespace brigade
