#pragma once

// A plugin is a shared library that adds stage types to any graph: a stage of the YAML names it
// next to its type (`transform: jitter`, `plugin: jitter.so`). A light plugin is a single file:
//
//   BRIGADE_PLUGIN(types) { types.add<Jitter>(jitter_contract()); }
//
// Every command that reads the graph opens it for the contracts, including `brigade check`.
// A plugin that needs a heavy library has two halves: the plugin, which must not link it,
//
//   BRIGADE_PLUGIN(types) { types.add_from_module(jitter_contract(), "jitter"); }
//
// and next to it the module brigade_jitter.so (module.h) with the implementation, opened only by
// the processes that run it. The module is built from the plugin's sources and its own, so that
// both contain the contract and a mismatch of builds is detected:
//
//   BRIGADE_MODULE(brigade::stage_body<Jitter>("jitter"))
//
// brigade_plugin() of CMake builds both. The layout hash covers the sizes of all types that cross
// the boundary, as for modules.

#include <cstddef>
#include <cstdint>

#include <brigade/module.h>
#include <brigade/stage_types.h>

namespace brigade {

struct Plugin {
  std::uint64_t layout_hash;
  void (*add_types)(StageTypes& types);  ///< called only if the hash matches the caller's
};

inline constexpr const char* kPluginSymbol = "brigade_plugin_v1";

constexpr std::uint64_t plugin_layout_hash() {
  std::uint64_t hash = module_layout_hash();
  for (std::uint64_t size :
       {sizeof(StageTypes), sizeof(StageType), sizeof(StageContract), sizeof(ParamSpec),
        sizeof(ParamValue), sizeof(InputPaths), sizeof(InputFiles), sizeof(TextMap),
        sizeof(TensorPattern), sizeof(TensorType), sizeof(Dim), sizeof(FileMetadata),
        sizeof(ReportSpec), sizeof(Result<Ports>), std::size_t{2} /* version */}) {
    hash = (hash ^ size) * 1099511628211ull;
  }
  return hash;
}

}  // namespace brigade

/// Followed by the body of a function that adds the plugin's stage types to `types`. Use it once
/// per plugin.
#define BRIGADE_PLUGIN(types)                                                                      \
  static void brigade_add_plugin_types(::brigade::StageTypes& types);                              \
  extern "C" __attribute__((visibility("default"))) const ::brigade::Plugin* brigade_plugin_v1() { \
    static constexpr ::brigade::Plugin plugin = {::brigade::plugin_layout_hash(),                  \
                                                 &brigade_add_plugin_types};                       \
    return &plugin;                                                                                \
  }                                                                                                \
  static void brigade_add_plugin_types(::brigade::StageTypes& types)
