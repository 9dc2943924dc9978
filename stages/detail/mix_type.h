#pragma once

// The type of a stage that draws from several producers (`mix: {a: 0.7, b: 0.3}`). It is in
// no list: its parts are stages of the graph with their own types, which it opens in its own
// process, and the runtime combines them into one source (pipeline/records/mixed_producer.h).
//
// A pure function, any thread.

#include <string_view>

#include <brigade/stage_types.h>

namespace brigade {

/// Of all such stages, for messages and in plans.
inline constexpr std::string_view kMixType = "mix";

/// Never goes.
BRIGADE_API const StageType& mix_type();

}  // namespace brigade
