#pragma once

// The type of a stage that runs as a program in any language (`exec:`). It is in no
// list: the YAML declares its inputs, outputs and parameters. Its implementation is a
// process that attaches itself (include/brigade/worker.h) and asks for its records,
// so that process() and read() of its placeholder in the replica are never called.
//
// Pure functions, any thread.

#include <cstdint>
#include <memory>
#include <string_view>

#include <brigade/stage_types.h>

namespace brigade {

/// Of all such stages, for messages and in plans.
inline constexpr std::string_view kExecType = "exec";
/// Of those whose program is the package's, for a function in Python (`transform: python`), and
/// whose tensors that function's decorator says.
inline constexpr std::string_view kPythonType = "python";
/// Its parameters that are not the function's: where it is, and who runs it.
inline constexpr std::string_view kPythonParams[] = {"call", "python", "import_timeout"};

/// Never goes. A producer of these is an indexed source.
BRIGADE_API const StageType& exec_type(StageKind kind);
BRIGADE_API const StageType& python_type(StageKind kind);
/// Those three, for lists and schemas.
BRIGADE_API StageTypes python_types();

/// What stands for the program in its replica. `samples`: of a source.
std::unique_ptr<Stage> make_exec_stage();
std::unique_ptr<Producer> make_exec_source(std::uint64_t samples);

}  // namespace brigade
