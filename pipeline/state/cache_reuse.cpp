#include "pipeline/state/cache_reuse.h"

#include <sys/stat.h>

#include <brigade/text.h>
#include "pipeline/config/graph/valid_graph.h"
#include "pipeline/plan/cache_key.h"
#include "pipeline/plan/caches.h"
#include "pipeline/state/cache_file_writer.h"

namespace brigade {
namespace {

constexpr const char* kCachedType = "cached";

std::string describe(const PlanStage& stage) {
  return concat("cache ", quote(stage.name), ": ", cache_file(stage));
}

}  // namespace

std::string stamp_of_file(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return "missing";
  std::string nanoseconds = std::to_string(status.st_mtim.tv_nsec);
  nanoseconds.insert(0, 9 - nanoseconds.size(), '0');
  return concat(S_ISDIR(status.st_mode) ? "folder" : "file", " of ", status.st_size, " bytes, ",
                status.st_mtim.tv_sec, ".", nanoseconds);
}

CacheReuse reuse_cache_files(const ValidGraph& graph, const Plan& plan, const StageTypes& types) {
  CacheReuse use;
  use.graph = graph;
  const StageType* const cached = types.find(kCachedType);
  ByStage<bool> gone(plan.stages.size());
  for (StageNumber s = plan.stages.next_number(); s-- > 0;) {
    const PlanStage& stage = plan.stages[s];
    const std::string file = cache_file(stage);
    if (file.empty() || gone[s]) continue;
    const CacheFileLook look = look_at_cache_file(file);
    if (look.kind == CacheFileLook::Kind::foreign)
      use.problems.push_back(problem_at(graph.stages[s],
                                        concat(file, " ", look.problem, "; it is not overwritten"),
                                        "choose another file, or delete this one"));
    if (look.kind == CacheFileLook::Kind::broken)
      use.warnings.push_back(concat(describe(stage), " ", look.problem, ": the cache is rebuilt"));
    if (look.kind != CacheFileLook::Kind::usable) continue;
    const std::string contents = cache_key(plan, s, types, stamp_of_file);
    if (look.header.contents_hash != cache_contents_hash(contents)) {
      use.warnings.push_back(concat(describe(stage), " has different contents (",
                                    contents_difference(look.header.contents, contents),
                                    "): the cache is rebuilt"));
      continue;
    }
    if (cached == nullptr) continue;
    const ByStage<bool> above = stages_above(plan, s);
    std::vector<std::string> names;
    for (const StageNumber a : above.numbers()) {
      if (!above[a]) continue;
      gone[a] = true;
      names.push_back(plan.stages[a].name);
    }
    auto rest = without_what_is_cached(use.graph, find_stage(use.graph, stage.name), file, *cached,
                                       look.header.samples);
    if (!rest) continue;
    use.graph = std::move(*rest);
    use.any = true;
    use.notes.push_back(concat(describe(stage), " is complete with ",
                               format_count(look.header.samples), " samples: ", join(names, ", "),
                               names.size() == 1 ? " does" : " do", " not start"));
  }
  return use;
}

std::string cache_key(const Plan& plan, StageNumber stage, const StageTypes& types) {
  const PlanStage& planned = plan.stages[stage];
  if (!cache_file(planned).empty())
    return std::to_string(cache_contents_hash(cache_key(plan, stage, types, stamp_of_file)));
  if (planned.type != kCachedType) return "";
  for (const auto& [name, value] : planned.params)
    if (name == "file") return std::to_string(look_at_cache_file(value.text).header.contents_hash);
  return "";
}

}  // namespace brigade
