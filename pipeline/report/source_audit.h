#pragma once

// The samples that a source found, those that each epoch of this process gets, and
// why the rest is skipped: the audit of samples that never became a slot. found =
// gives + all skipped, unless samples are drawn by weight. A cache with a `limit:`
// is such a source, too: it finds its upstream samples. Plain data, pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <brigade/skipped_inputs.h>
#include "pipeline/plan/plan.h"
#include "pipeline/plan/subset.h"

namespace brigade {

struct SourceAudit {
  std::string name;                    ///< of the stage
  std::optional<std::uint64_t> gives;  ///< per epoch; nothing: that is not known
  std::vector<SkippedInputs> skipped;
  bool drawn = false;      ///< by weight: what it gives is not a part of what it found
  std::string mixed = {};  ///< of a mixture, before the run: what it draws
  friend bool operator==(const SourceAudit&, const SourceAudit&) = default;
};

/// What the keys of a source leave out of what it found, and ranks that each read `given` of it.
std::vector<SkippedInputs> left_out(const StageKeys& keys, const Subset& subset,
                                    std::uint64_t given, const Shard& shard);

/// Adds what a source says that it skips itself: foreign text is made printable, much of it cut.
void add_skipped(std::vector<SkippedInputs>& all, const std::vector<SkippedInputs>& by_source);

/// The sources and caches of a plan as far as they are known before the run: those that give
/// nothing here say it when they are opened.
std::vector<SourceAudit> planned_sources(const ValidGraph& graph, const Plan& plan);

/// Nothing where it is not known, or what it gives says nothing of it.
std::optional<std::uint64_t> found_by(const SourceAudit& audit);

/// "source train: found 40, gives 10, skipped 30: 30 keys without an image".
std::string source_text(const SourceAudit& audit);

/// "30 keys without an image, 5 left out by `limit:`"; empty where nothing is skipped.
std::string skipped_text(const SourceAudit& audit);

/// Whether something is skipped that nobody has asked for.
bool is_surprising(const SourceAudit& audit);

}  // namespace brigade
