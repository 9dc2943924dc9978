#include "pipeline/config/graph/key_users.h"

#include <algorithm>
#include <iterator>

#include "pipeline/config/language/key_table.h"
#include "pipeline/config/language/subset_parser.h"

namespace brigade {

namespace {

/// Of a producer that is only drawn from, those that count; they are none of the mixture's.
constexpr std::string_view kKeysOfParts[] = {"producer", "params",       "plugin", "skip",
                                             "split",    "part",         "limit",  "take",
                                             "weights",  "repeat_factor"};

}  // namespace

std::uint8_t key_users(const ValidStage& stage) {
  switch (stage.kind) {
    case StageKind::producer:
      if (stage.type == nullptr) return kProducers | kDividedProducers;
      return stage.type->indexed ? kIndexedProducers | kDividedProducers : kStreamProducers;
    case StageKind::transform:  // a cache is a source of what is below it
      return stage.type != nullptr && stage.type->contract.cache ? kTransforms | kIndexedProducers
                                                                 : kTransforms;
    case StageKind::consumer:
      return kConsumers;
  }
  return kAllStages;
}

bool is_key_of_part(std::string_view key) {
  return std::ranges::find(kKeysOfParts, key) != std::end(kKeysOfParts);
}

}  // namespace brigade
