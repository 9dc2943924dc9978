#include "stages/detail/mix_type.h"

#include <string>

#include <brigade/contract.h>

namespace brigade {
namespace {

struct MixParams {};  // its parts have theirs

}  // namespace

const StageType& mix_type() {
  static const StageType kType = [] {
    StageType type;
    type.contract =
        Contract<MixParams>(std::string(kMixType),
                            "Draws samples from several producers according to their shares.")
            .producer()
            .erased();
    type.indexed = true;
    return type;
  }();
  return kType;
}

}  // namespace brigade
