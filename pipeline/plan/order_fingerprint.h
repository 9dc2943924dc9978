#pragma once

// A text that determines the order and the content of a graph's samples: a line "KEY =
// VALUE" for each fact. It is stored with a position (position.h), so that a resumed run
// can name the differences. Replicas, threads, `chunk:` and rings are not in it, nor are
// the folders of the data: the sources' sizes and fingerprints are compared instead. Pure.

#include <functional>
#include <string>

#include <brigade/stage_types.h>
#include "pipeline/plan/plan.h"

namespace brigade {

/// What a stage keeps in a file, or reads from such a file: the same text for the cache that fills
/// it and for the producer that stands in its place in later runs. Empty for all other stages.
using CacheKeyOf = std::function<std::string(const Plan& plan, StageNumber stage)>;

/// `types`: all that the plan names. Lines are compared by contents_difference()
/// (cache_key.h).
std::string order_fingerprint(const Plan& plan, const StageTypes& types, const CacheKeyOf& kept);

/// Whether a program gets the batches of this stage as they finish (`params: {order: any}`).
bool takes_any_order(const PlanStage& stage);

}  // namespace brigade
