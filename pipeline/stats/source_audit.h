#pragma once

// What a source found, what of it each epoch of this process gets, and why not the rest: the audit
// of what never became a slot. found = gives + all that is skipped. A cache with a `limit:` is such
// a source, too: it finds what is above it. Plain data, pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <brigade/skipped_inputs.h>
#include "pipeline/plan/plan.h"

namespace brigade {

struct SourceAudit {
  std::string name;                    ///< of the stage
  std::optional<std::uint64_t> gives;  ///< per epoch; nothing: a stream, whose length nobody knows
  std::vector<SkippedInputs> skipped;
  friend bool operator==(const SourceAudit&, const SourceAudit&) = default;
};

/// What the graph leaves of `found` samples: `limited` by `limit:`, and of these `given` by ranks.
std::vector<SkippedInputs> left_out(std::uint64_t found, std::uint64_t limited, std::uint64_t given,
                                    const Shard& shard);

/// The sources and caches whose number of samples is known before the run, with what the graph
/// leaves out of them; what a source itself skips, it says when it is opened.
std::vector<SourceAudit> known_sources(const ValidGraph& graph, const Plan& plan);

/// Nothing of a stream.
std::optional<std::uint64_t> found_by(const SourceAudit& audit);

/// "source train: found 40, gives 10, skipped 30: 30 keys without an image".
std::string source_text(const SourceAudit& audit);

/// "30 keys without an image, 5 behind `limit:`"; empty where nothing is skipped.
std::string skipped_text(const SourceAudit& audit);

/// Whether something is skipped that nobody has asked for.
bool is_surprising(const SourceAudit& audit);

}  // namespace brigade
