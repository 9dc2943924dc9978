// A module that needs a library nobody brings.

extern "C" int nobody_has_this();
extern "C" __attribute__((visibility("default"))) int brigade_module_v1() {
  return nobody_has_this();
}
