#include "pipeline/worker/replica/work.h"

#include <brigade/text.h>

namespace brigade {

Result<void> settle_call(const Result<Next>& answer, const ReplicaContext& context,
                         QueueNumber queue, std::span<const SampleInfo> samples,
                         ErrorPolicy& errors) {
  if (!answer.ok()) return errors.failed(queue, samples, answer.error());
  if (*answer == Next::drop) {
    if (context.stage->may_drop) return {};
    return Error{concat(errors.describe(queue, samples),
                        ": it returned Next::drop, but the contract of ",
                        quote(context.stage->type), " does not declare may_drop()")};
  }
  return Error{concat(errors.describe(queue, samples),
                      ": it returned Next::", *answer == Next::wait ? "wait" : "end",
                      ", which is reserved for stream producers")};
}

}  // namespace brigade
