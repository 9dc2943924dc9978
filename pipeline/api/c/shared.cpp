#include <utility>

#include "pipeline/api/c/c_call.h"
#include "pipeline/api/c/handles.h"
#include "pipeline/api/c/show_tensor.h"

using namespace brigade;
using namespace brigade::c_api;

brigade_status brigade_run_shared(brigade_run* run, const char* name, brigade_shared** shared) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(run);
    BRIGADE_C_NEEDS(name);
    BRIGADE_C_NEEDS(shared);
    auto found = run->run->shared(name);
    if (!found) return fail(BRIGADE_ERROR_ARGUMENT, found.error().message);
    *shared = new brigade_shared{std::move(*found)};
    return BRIGADE_OK;
  });
}

brigade_status brigade_shared_tensor(const brigade_shared* shared, brigade_tensor* tensor) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(shared);
    const SharedTensor& of = shared->tensor;
    Field field;
    field.dtype = of.dtype();
    brigade_tensor shown = show_tensor(field, of.data(), of.shape(),
                                       of.writable() ? std::uint32_t{BRIGADE_WRITABLE} : 0);
    shown.name = of.name().c_str();
    return write_struct(shown, "tensor", tensor);
  });
}

int32_t brigade_shared_fill(const brigade_shared* shared) {
  return shared != nullptr && shared->tensor.fill() ? 1 : 0;
}

brigade_status brigade_shared_set_initialised(brigade_shared* shared) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(shared);
    shared->tensor.set_initialised();
    return BRIGADE_OK;
  });
}

int32_t brigade_shared_initialised(const brigade_shared* shared) {
  return shared != nullptr && shared->tensor.initialised() ? 1 : 0;
}

void brigade_shared_release(brigade_shared* shared) { delete shared; }
