#include "pipeline/worker/plugin_loader.h"

#include <dlfcn.h>
#include <unistd.h>

#include <exception>

#include <brigade/plugin.h>
#include <brigade/text.h>

namespace brigade {
namespace {

constexpr const char* kAnotherVersion = "was built against another version of Brigade";
constexpr const char* kBuildAgain = "build it again";

// What the dynamic linker says, without the path that the caller knows.
Error cannot_open(const std::string& path) {
  const char* const said = dlerror();
  const std::string_view text = said == nullptr ? "" : said;
  const std::string_view reason = strip_prefix(text, concat(path, ": ")).value_or(text);
  if (reason.starts_with("undefined symbol: ") && reason.find("brigade") != reason.npos) {
    return Error{concat(kAnotherVersion, " (", reason, "); ", kBuildAgain)};
  }
  return Error{concat("cannot be opened: ", reason)};
}

Error no_symbol(void* library) {
  if (dlsym(library, kModuleSymbol) != nullptr) {
    return Error{
        "is a module, which contains the bodies of a plugin; name the library with the contracts, "
        "which was built beside it"};
  }
  return Error{concat("is not a plugin of Brigade: it has no symbol ", kPluginSymbol,
                      " (write BRIGADE_PLUGIN(types) {...} in one of its sources)")};
}

Result<const Plugin*> find_plugin(const std::string& path) {
  // Now and local: as for modules.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return cannot_open(path);
  const auto entry = reinterpret_cast<const Plugin* (*)()>(dlsym(library, kPluginSymbol));
  if (entry == nullptr) return no_symbol(library);
  const Plugin* const plugin = entry();
  if (plugin->layout_hash == plugin_layout_hash()) return plugin;
  return Error{concat(kAnotherVersion, ": layout ", plugin->layout_hash, ", this program has ",
                      plugin_layout_hash(), "; ", kBuildAgain)};
}

// The body of a type is in the plugin itself, or in the module beside it.
std::string library_of(const StageType& type, const std::string& plugin) {
  if (type.module.empty()) return plugin;
  return concat(plugin.substr(0, plugin.rfind('/')), "/brigade_", type.module, ".so");
}

}  // namespace

Result<StageTypes> open_plugin(const std::string& path) {
  BRIGADE_ASSIGN(const Plugin* plugin, find_plugin(path));
  StageTypes given;
  try {
    plugin->add_types(given);
  } catch (const std::exception& exception) {
    return Error{concat("failed to list its stage types: ", exception.what())};
  }
  StageTypes types;
  for (StageType type : given.all()) {
    type.module = library_of(type, path);
    types.add(std::move(type));
  }
  return types;
}

Result<void> check_library(const std::string& path, const std::string& type) {
  if (access(path.c_str(), F_OK) == 0) return {};
  return Error{concat("there is no ", path, ", which contains the body of \"", type,
                      "\"; copy it into the folder of the plugin, with which it was built")};
}

StageTypes types_of(const StageTypes& program, const ValidGraph& graph) {
  StageTypes types = program;
  for (const PluginTypes& plugin : graph.plugins) types.append(*plugin.types);
  return types;
}

Result<void> compare_contracts(const StageContract& found, std::uint64_t expected,
                               const std::string& file) {
  if (found.hash() == expected) return {};
  return Error{concat("the contract of stage type \"", found.type, "\" in ", file,
                      " differs from the contract that was checked (hash ", found.hash(),
                      ", expected ", expected, "); rebuild both halves of the plugin")};
}

Result<void> check_module_contract(const StageType& type) {
  auto types = open_plugin(type.module);
  if (!types) return Error{concat("the module ", type.module, " ", types.error().message)};
  const StageType* const found = types->find(type.contract.type);
  if (found == nullptr) {
    return Error{concat("the module ", type.module, " has no contract of stage type \"",
                        type.contract.type, "\"; rebuild both halves of the plugin")};
  }
  return compare_contracts(found->contract, type.contract.hash(), type.module);
}

}  // namespace brigade
