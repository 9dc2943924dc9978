#pragma once

// Finds the implementation of a stage type: in this program, or in a module
// (brigade_NAME.so), which only the process that runs the stage opens. Modules are
// searched in the folders of BRIGADE_MODULE_PATH (separated by colons) if that is set,
// otherwise beside the core library and the program; the module of a plugin's stage type
// is a path. A module is never closed, because its objects stay in use. Any thread.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <brigade/module.h>
#include <brigade/result.h>
#include <brigade/stage_types.h>
#include "pipeline/plan/plan.h"

namespace brigade {

inline constexpr const char* kModulePathVariable = "BRIGADE_MODULE_PATH";

/// Where modules are looked for, in this order.
std::vector<std::string> module_folders();

/// The absolute path of libbrigade.so, in which this code is; empty: the program has the core in
/// it.
std::string core_library();

/// The path of the program `brigade` that was installed with the core library: in `../bin` of its
/// folder, or in that.
Result<std::string> installed_program();

/// The folder share/brigade that was installed with the program: docs/, configs/, examples/.
Result<std::string> shared_files_folder();

/// The file of a module, without opening it; nothing when it is in none of the folders. A path is
/// the file itself.
std::optional<std::string> find_module_file(const std::string& module);

/// Whether the file with the body of a type is there, which may be in this program: an error says
/// where it was looked for. Nothing is opened.
Result<void> check_module_file(const StageType& type);

/// Opens a module and finds the body of one type in it. Errors say where it was looked for, or what
/// the module was built against.
Result<const ModuleBody*> find_module_body(const std::string& module, const std::string& type);

// How a replica makes its stage (or producer), whatever the body is in. `type` must outlive them.
std::function<Result<std::unique_ptr<Stage>>()> stage_maker(const StageType& type);
std::function<Result<std::unique_ptr<Producer>>()> producer_maker(const StageType& type);

/// As stage_maker(), also for a fused stage: its links' bodies, as this stage of the plan wants
/// them.
std::function<Result<std::unique_ptr<Stage>>()> body_maker(const StageType& type,
                                                           const PlanStage& stage);

}  // namespace brigade
