#include "pipeline/worker/module_loader.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include <brigade/text.h>
#include "pipeline/worker/plugin_loader.h"
#include "pipeline/worker/replica/fused_stage.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;

std::string file_name(const std::string& module) { return concat("brigade_", module, ".so"); }

// The file that holds this code: libbrigade.so, or a program that links the core.
fs::path core_file() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&module_folders), &info) == 0) return {};
  std::error_code error;
  return fs::canonical(info.dli_fname, error);
}

fs::path core_folder() { return core_file().parent_path(); }

fs::path program_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

void add_folder(std::vector<std::string>& folders, const fs::path& folder) {
  const std::string text = folder.lexically_normal().string();
  for (const std::string& known : folders) {
    if (known == text) return;
  }
  folders.push_back(text);
}

Error not_found(const std::string& module, const std::string& type) {
  return Error{concat(
      "stage type \"", type, "\" is in the module \"", module,
      "\", which was not found: there is no ", file_name(module), " in ",
      join(module_folders(), ", "), "; build it, or set ", kModulePathVariable, " to its folder",
      module == "torch"    ? "; or train in Python: `brigade init DATA --python`"
      : module == "opencv" ? "; it is built where libopencv-imgproc-dev is installed"
                           : "")};
}

Result<const Module*> open_module(const std::string& path) {
  // Now: a missing symbol is an error here, not in the middle of an epoch. Local: two modules may
  // carry different copies of one library.
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Error{concat("cannot open the module ", path, ": ", dlerror())};
  const auto entry = reinterpret_cast<const Module* (*)()>(dlsym(handle, kModuleSymbol));
  if (entry == nullptr) {
    return Error{concat(path, " is not a module of Brigade: it has no symbol ", kModuleSymbol,
                        " (write BRIGADE_MODULE(...) in one of its sources)")};
  }
  const Module* const module = entry();
  if (module->layout_hash != module_layout_hash()) {
    return Error{concat(
        "the module ", path, " was built against another version of Brigade: ", "layout ",
        module->layout_hash, ", this program has ", module_layout_hash(), "; build it again")};
  }
  return module;
}

template <class Body>
Error wrong_body(const StageType& type, Body kind) {
  return Error{concat("the body of stage type \"", type.contract.type, "\" is not a ", kind,
                      ", as its contract requires")};
}

// In this program, or in a plugin that has been opened.
bool is_in_hand(const StageType& type) {
  return type.module.empty() || type.make_stage || type.make_producer;
}

Result<const ModuleBody*> body_in_module(const StageType& type) {
  if (is_of_plugin(type)) {
    BRIGADE_TRY(check_library(type.module, type.contract.type));
    BRIGADE_TRY(check_module_contract(type));
  }
  return find_module_body(type.module, type.contract.type);
}

}  // namespace

std::vector<std::string> module_folders() {
  std::vector<std::string> folders;
  if (const char* given = std::getenv(kModulePathVariable); given != nullptr && *given != 0) {
    for (std::string_view folder : split(given, ':')) {
      if (!folder.empty()) add_folder(folders, fs::path(folder));
    }
    return folders;
  }
  add_folder(folders, core_folder() / "brigade");
  add_folder(folders, core_folder() / "../lib/brigade");
  add_folder(folders, program_folder() / "../lib/brigade");
  return folders;
}

std::string core_library() {
  const fs::path core = core_file();
  std::error_code error;
  return core == fs::read_symlink("/proc/self/exe", error) ? "" : core.string();
}

Result<std::string> installed_program() {
  const fs::path folder = core_folder();
  for (const fs::path& path : {folder / "../bin/brigade", folder / "brigade"}) {
    std::error_code error;
    if (!fs::is_directory(path, error) && access(path.c_str(), X_OK) == 0)
      return path.lexically_normal().string();
  }
  return Error{concat("the program brigade was not found: neither in ",
                      (folder / "../bin").lexically_normal().string(), " nor in ", folder.string(),
                      "; install it with the library, or pass its path")};
}

Result<std::string> shared_files_folder() {
  std::vector<std::string> tried;
  for (const fs::path& prefix : {core_folder() / "..", program_folder() / ".."}) {
    const std::string folder = (prefix / "share/brigade").lexically_normal().string();
    std::error_code error;
    if (fs::is_directory(fs::path(folder) / "docs", error)) return folder;
    tried.push_back(folder);
  }
  return Error{concat("the documentation was not installed with the program: there is no docs in ",
                      join(tried, " or "))};
}

std::optional<std::string> find_module_file(const std::string& module) {
  if (module.starts_with('/')) return module;
  for (const std::string& folder : module_folders()) {
    const std::string path = (fs::path(folder) / file_name(module)).string();
    if (access(path.c_str(), F_OK) == 0) return path;
  }
  return std::nullopt;
}

Result<void> check_module_file(const StageType& type) {
  if (is_in_hand(type) || find_module_file(type.module)) return {};
  return not_found(type.module, type.contract.type);
}

Result<const ModuleBody*> find_module_body(const std::string& module, const std::string& type) {
  const auto path = find_module_file(module);
  if (!path) return not_found(module, type);
  BRIGADE_ASSIGN(const Module* opened, open_module(*path));
  for (std::size_t i = 0; i < opened->count; ++i) {
    if (opened->bodies[i].type == type) return &opened->bodies[i];
  }
  return Error{concat("the module ", *path, " has no stage type \"", type,
                      "\"; rebuild the module if it is older than this program")};
}

std::function<Result<std::unique_ptr<Stage>>()> stage_maker(const StageType& type) {
  return [&type]() -> Result<std::unique_ptr<Stage>> {
    if (type.make_stage) return type.make_stage();
    if (is_in_hand(type)) return wrong_body(type, "stage");
    BRIGADE_ASSIGN(const ModuleBody* body, body_in_module(type));
    if (body->make_stage == nullptr) return wrong_body(type, "stage");
    return std::unique_ptr<Stage>(body->make_stage());
  };
}

std::function<Result<std::unique_ptr<Producer>>()> producer_maker(const StageType& type) {
  return [&type]() -> Result<std::unique_ptr<Producer>> {
    if (type.make_producer) return type.make_producer();
    if (is_in_hand(type)) return wrong_body(type, "producer");
    BRIGADE_ASSIGN(const ModuleBody* body, body_in_module(type));
    if (body->make_producer == nullptr) return wrong_body(type, "producer");
    return std::unique_ptr<Producer>(body->make_producer());
  };
}

std::function<Result<std::unique_ptr<Stage>>()> body_maker(const StageType& type,
                                                           const PlanStage& stage) {
  if (type.links.empty()) return stage_maker(type);
  return [&type, &stage]() -> Result<std::unique_ptr<Stage>> {
    std::vector<std::unique_ptr<Stage>> bodies;
    for (const StageType* link : type.links) {
      BRIGADE_ASSIGN(auto body, stage_maker (*link)());
      bodies.push_back(std::move(body));
    }
    return std::unique_ptr<Stage>(
        std::make_unique<FusedStage>(type, std::move(bodies), stage.random, stage.batched));
  };
}

}  // namespace brigade
