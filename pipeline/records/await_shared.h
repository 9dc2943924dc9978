#pragma once

// Shared tensors that one replica of many fills (`init: replica_0`): the others wait for it.

#include <functional>
#include <string>
#include <vector>

#include <brigade/shared.h>

namespace brigade {

/// Before open(): waits until somebody has initialised what this replica does not, and hands what
/// it is to fill back to zeros. False: `ended` has said so meanwhile. `waits` is told once where
/// that takes long, for what.
bool await_shared_tensors(const std::vector<SharedTensor>& tensors,
                          const std::function<bool()>& ended,
                          const std::function<void(const std::string&)>& waits);

}  // namespace brigade
