#pragma once

// The kinds of targets; targets.cpp puts them into one table.

#include <functional>
#include <memory>
#include <vector>

#include "stages/image/listed_types.h"
#include "stages/image/targets/target.h"

namespace brigade {

struct TargetType : ListedType {
  std::function<std::unique_ptr<Target>(const void* params)> make;
};

/// `T` is made of its Params.
template <class T>
TargetType target(const Contract<typename T::Params>& table) {
  return {listed_type(table), [](const void* params) -> std::unique_ptr<Target> {
            return std::make_unique<T>(*static_cast<const typename T::Params*>(params));
          }};
}

TargetType mask_target();
TargetType boxes_target();
TargetType keypoints_target();

}  // namespace brigade
