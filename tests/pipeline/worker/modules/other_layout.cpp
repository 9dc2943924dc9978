// A module that was built against other headers.

#include <brigade/module.h>

extern "C" __attribute__((visibility("default"))) const brigade::Module* brigade_module_v1() {
  static constexpr brigade::Module module = {brigade::module_layout_hash() + 1, nullptr, 0};
  return &module;
}
