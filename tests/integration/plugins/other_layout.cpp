// A plugin that was built against other headers.

#include <brigade/plugin.h>

extern "C" __attribute__((visibility("default"))) const brigade::Plugin* brigade_plugin_v1() {
  static constexpr brigade::Plugin plugin = {brigade::plugin_layout_hash() + 1, nullptr};
  return &plugin;
}
