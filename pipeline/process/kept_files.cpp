#include "pipeline/process/kept_files.h"

#include <sys/stat.h>

#include <chrono>
#include <system_error>

#include "base/text.h"
#include "pipeline/plan/cache_contents.h"
#include "pipeline/plan/caches.h"
#include "pipeline/run/cache_rows.h"

namespace brigade {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(50);
constexpr const char* kCachedType = "cached";

static_assert(kCacheRowWordBytes == sizeof(RowHeader));
static_assert(kCacheRowFull == static_cast<std::uint64_t>(RowState::full));
static_assert(kCacheRowHole == static_cast<std::uint64_t>(RowState::hole));

int find_stage(const ValidGraph& graph, const std::string& name) {
  for (std::size_t s = 0; s < graph.stages.size(); ++s)
    if (graph.stages[s].name == name) return static_cast<int>(s);
  return -1;
}

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

KeptUse use_kept_files(const ValidGraph& graph, const Plan& plan, const StageTypes& types) {
  KeptUse use;
  use.graph = graph;
  const StageType* const cached = types.find(kCachedType);
  std::vector<bool> gone(plan.stages.size());
  for (std::size_t s = plan.stages.size(); s-- > 0;) {
    const PlanStage& stage = plan.stages[s];
    const std::string file = cache_file(stage);
    if (file.empty() || gone[s]) continue;
    const KeptLook look = look_at_kept(file);
    if (look.kind == KeptLook::Kind::foreign)
      use.problems.push_back(problem_at(graph.stages[s],
                                        concat(file, " ", look.problem, "; it is not overwritten"),
                                        "name another file, or remove it"));
    if (look.kind == KeptLook::Kind::broken)
      use.warnings.push_back(concat(describe(stage), " ", look.problem, ": it is made anew"));
    if (look.kind != KeptLook::Kind::usable) continue;
    const std::string contents = cache_contents(plan, static_cast<int>(s), types, stamp_of_file);
    if (look.header.contents_hash != cache_contents_hash(contents)) {
      use.warnings.push_back(concat(describe(stage), " holds something else (",
                                    contents_difference(look.header.contents, contents),
                                    "): it is made anew"));
      continue;
    }
    if (cached == nullptr) continue;
    const std::vector<bool> above = stages_above(plan, static_cast<int>(s));
    std::vector<std::string> names;
    for (std::size_t a = 0; a < above.size(); ++a) {
      if (!above[a]) continue;
      gone[a] = true;
      names.push_back(plan.stages[a].name);
    }
    auto rest = without_what_is_cached(use.graph, find_stage(use.graph, stage.name), file, *cached,
                                       look.header.samples);
    if (!rest) continue;
    use.graph = std::move(*rest);
    use.any = true;
    use.notes.push_back(concat(describe(stage), " has all ", format_count(look.header.samples),
                               " samples: ", join(names, ", "), names.size() == 1 ? " is" : " are",
                               " not started"));
  }
  return use;
}

std::string kept_contents(const Plan& plan, int stage, const StageTypes& types) {
  const PlanStage& planned = plan.stages[static_cast<std::size_t>(stage)];
  if (!cache_file(planned).empty())
    return std::to_string(cache_contents_hash(cache_contents(plan, stage, types, stamp_of_file)));
  if (planned.type != kCachedType) return "";
  for (const auto& [name, value] : planned.params)
    if (name == "file") return std::to_string(look_at_kept(value.text).header.contents_hash);
  return "";
}

Result<KeptFiles> create_kept_files(const Plan& plan, const StageTypes& types) {
  KeptFiles files(plan.stages.size());
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const PlanStage& stage = plan.stages[s];
    const std::string path = cache_file(stage);
    if (path.empty()) continue;
    auto made = KeptFile::create(
        path,
        cache_file_header(stage, cache_contents(plan, static_cast<int>(s), types, stamp_of_file)));
    if (!made) return Error{concat("cache ", quote(stage.name), ": ", made.error().message)};
    files[s] = std::move(*made);
  }
  return files;
}

std::vector<int> kept_fds(const KeptFiles& files) {
  std::vector<int> fds;
  for (const auto& file : files) fds.push_back(file == nullptr ? -1 : file->fd());
  return fds;
}

KeptFileKeeper::KeptFileKeeper(const Plan& plan, Segments& segments, KeptFiles& files)
    : plan_(plan), segments_(segments) {
  for (std::size_t s = 0; s < files.size(); ++s)
    if (files[s] != nullptr)
      fillings_.push_back({static_cast<int>(s), files[s].get(), 0, 0, false});
  if (fillings_.empty()) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // finish() looks, too
  }
}

KeptFileKeeper::~KeptFileKeeper() {
  over_ = true;
  if (thread_.joinable()) thread_.join();
}

void KeptFileKeeper::run() {
  while (!over_) {
    for (Filling& filling : fillings_) look(filling);
    std::this_thread::sleep_for(kLookEvery);
  }
}

void KeptFileKeeper::look(Filling& filling) {
  if (filling.over) return;
  const PlanStage& stage = plan_.stages[static_cast<std::size_t>(filling.stage)];
  if (filling.samples == 0) {
    const auto domain = static_cast<std::size_t>(stage.lanes[0].domain);
    const std::uint64_t samples = segments_.control().domains[domain]->epoch_samples.value.load();
    if (samples == kNever) return;
    filling.samples = samples;
  }
  const CacheRows rows(stage, segments_.row_pools()[static_cast<std::size_t>(filling.stage)]);
  if (filling.samples > rows.rows()) return;
  while (filling.next < filling.samples && rows.state(filling.next) != RowState::pad)
    ++filling.next;
  if (filling.next < filling.samples) return;
  filling.over = true;
  auto published = filling.file->publish(filling.samples);
  if (published)
    return lines_.push_back(
        {false, concat(describe(stage), " has all ", format_count(filling.samples), " samples")});
  lines_.push_back({true, concat("cache ", quote(stage.name), ": ", published.error().message)});
}

std::vector<KeptFileKeeper::Line> KeptFileKeeper::finish() {
  over_ = true;
  if (thread_.joinable()) thread_.join();
  for (Filling& filling : fillings_) {
    look(filling);
    if (filling.over) continue;
    const PlanStage& stage = plan_.stages[static_cast<std::size_t>(filling.stage)];
    lines_.push_back({false, concat(describe(stage),
                                    " is not written: the run has not kept every "
                                    "sample")});
  }
  return std::move(lines_);
}

}  // namespace brigade
