#pragma once

// The shared tensors of a replica. If one replica of many
// fills a tensor (`init: replica_0`), the others wait for it.

#include <functional>
#include <string>
#include <vector>

#include <brigade/result.h>
#include <brigade/shared.h>

namespace brigade {

struct ReplicaShared {
  std::vector<SharedTensor> tensors = {};  ///< the stage's
  /// Before each checkpoint of the stage: saves what has a `save:`. Empty: there is nothing.
  std::function<Result<void>()> save = {};
};

/// Before open(): waits until somebody has initialised what this replica does not, and hands what
/// it is to fill back to zeros. False: `ended` has said so meanwhile. `waits` is told once where
/// that takes long, for what.
bool await_shared_tensors(const std::vector<SharedTensor>& tensors,
                          const std::function<bool()>& ended,
                          const std::function<void(const std::string&)>& waits);

}  // namespace brigade
