#pragma once

// A module is a shared object with the implementations of heavy stage types, opened by the process
// that runs one of them. It exports one C symbol, created by BRIGADE_MODULE:
//
//   BRIGADE_MODULE(brigade::stage_body<TorchClassifier>("torch_classifier"))
//
// The layout hash covers the sizes of all types that cross the boundary: a module built against
// another version of these headers is rejected with both values instead of crashing later.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <brigade/stage.h>

namespace brigade {

struct ModuleBody {
  const char* type;
  Stage* (*make_stage)();        ///< owned by the caller; null for a Producer
  Producer* (*make_producer)();  ///< owned by the caller; null for a Stage
};

struct Module {
  std::uint64_t layout_hash;
  const ModuleBody* bodies;
  std::size_t count;
};

inline constexpr const char* kModuleSymbol = "brigade_module_v1";

constexpr std::uint64_t module_layout_hash() {
  std::uint64_t hash = 1469598103934665603ull;  // FNV-1a over the sizes
  for (std::uint64_t size :
       {sizeof(Stage), sizeof(Producer), sizeof(OpenContext), sizeof(Frame), sizeof(Field),
        sizeof(SampleInfo), sizeof(TensorView), sizeof(TensorSlot), sizeof(Result<Next>),
        std::size_t{1} /* version */}) {
    hash = (hash ^ size) * 1099511628211ull;
  }
  return hash;
}

template <class S>
constexpr ModuleBody stage_body(const char* type) {
  if constexpr (std::is_base_of_v<Producer, S>) {
    return {type, nullptr, []() -> Producer* { return new S(); }};
  } else {
    return {type, []() -> Stage* { return new S(); }, nullptr};
  }
}

}  // namespace brigade

#define BRIGADE_MODULE(...)                                                                        \
  extern "C" __attribute__((visibility("default"))) const ::brigade::Module* brigade_module_v1() { \
    static constexpr ::brigade::ModuleBody bodies[] = {__VA_ARGS__};                               \
    static constexpr ::brigade::Module module = {::brigade::module_layout_hash(), bodies,          \
                                                 sizeof(bodies) / sizeof(bodies[0])};              \
    return &module;                                                                                \
  }
