#include "pipeline/config/validate/draft.h"

namespace brigade {
namespace {

/// Pages of ragged tensors come and go with what the samples hold, and huge ones are reserved.
void check_hugepages(Validation& v, const Draft& draft) {
  const Span& at = *draft.spec->given("hugepages");
  if (draft.has_type && draft.stage.type->contract.cache)
    return v.error(draft, at, "`hugepages: true` is for buffers, and a cache keeps its samples",
                   {"write it at the stages beside it"});
  for (const TensorType& tensor : draft.stage.outputs.tensors)
    if (tensor.ragged())
      return v.error(draft, at,
                     concat("`hugepages: true` is for tensors of one size, found ", tensor.text()),
                     {"make all samples alike, by a crop or a resize, or leave it out"});
}

}  // namespace

void validate_hugepages(Validation& v) {
  for (const Draft& draft : v.drafts)
    if (draft.stage.hugepages) check_hugepages(v, draft);
}

}  // namespace brigade
