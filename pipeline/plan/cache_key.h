#pragma once

// A text that determines the samples of a cache: a line "KEY = VALUE" for each
// relevant fact of the upstream stages. It is stored in the cache's file, so that
// a later run can check whether the file has the samples that it would make, and
// report the differences. Pure, except for the files that `stamp` checks.

#include <functional>
#include <string>

#include <brigade/stage_types.h>
#include "pipeline/config/graph/valid_graph.h"
#include "pipeline/plan/plan.h"
#include "stages/detail/cache_file.h"

namespace brigade {

/// What changes when a file (or, of a folder, the list of what is in it) changes: "57 bytes of
/// 1790000000.123456789".
using FileStamp = std::function<std::string(const std::string& path)>;

/// `stage`: a cache of the plan. Types, contracts, parameters, the files these name, random names,
/// seeds, shuffle and limits of all stages above it. `types`: all that the plan names.
std::string cache_key(const Plan& plan, StageNumber stage, const StageTypes& types,
                      const FileStamp& stamp);

/// A parameter's value in such a line.
std::string param_text(const ParamValue& value);
/// What a stage reads, in such a line.
std::string inputs_text(const Plan& plan, const PlanStage& stage);

/// What decides which samples of a source are read, by key: nothing for a key that is not given.
std::vector<std::pair<std::string_view, std::string>> subset_lines(const StageKeys& keys);

/// The first line in which two contents differ: "images.limit was 0, is 100".
std::string contents_difference(const std::string& before, const std::string& now);

/// The header of the file that this cache writes; not complete.
CacheFileHeader cache_file_header(const PlanStage& stage, std::string contents);

/// The graph with a cache replaced by a producer of what its file has, and without what is above
/// it. `cached`: the producer's type. Nothing else may read what is above (make_caches).
Result<ValidGraph> without_what_is_cached(const ValidGraph& graph, StageNumber stage,
                                          const std::string& file, const StageType& cached,
                                          std::uint64_t samples);

}  // namespace brigade
