// A plugin that calls what another version of Brigade had.

namespace brigade {
int nobody_has_this();
}

extern "C" __attribute__((visibility("default"))) int brigade_plugin_v1() {
  return brigade::nobody_has_this();
}
