#include "pipeline/state/cache_publisher.h"

#include <chrono>

#include <brigade/text.h>
#include "base/thread.h"
#include "pipeline/plan/cache_key.h"
#include "pipeline/plan/caches.h"
#include "pipeline/records/cache_slots.h"
#include "pipeline/state/cache_reuse.h"

namespace brigade {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(50);

static_assert(kCacheSlotWordBytes == sizeof(SlotHeader));
static_assert(kCacheSlotFull == static_cast<std::uint64_t>(SlotState::full));
static_assert(kCacheSlotEmpty == static_cast<std::uint64_t>(SlotState::empty));

std::string describe(const PlanStage& stage) {
  return concat("cache ", quote(stage.name), ": ", cache_file(stage));
}

}  // namespace

Result<CacheFiles> create_cache_files(const Plan& plan, const StageTypes& types) {
  CacheFiles files(plan.stages.size());
  for (const StageNumber s : plan.stages.numbers()) {
    const PlanStage& stage = plan.stages[s];
    const std::string path = cache_file(stage);
    if (path.empty()) continue;
    auto made = CacheFileWriter::create(
        path, cache_file_header(stage, cache_key(plan, s, types, stamp_of_file)));
    if (!made) return Error{concat("cache ", quote(stage.name), ": ", made.error().message)};
    files[s] = std::move(*made);
  }
  return files;
}

ByStage<int> cache_fds(const CacheFiles& files) {
  ByStage<int> fds;
  for (const auto& file : files) fds.push_back(file == nullptr ? -1 : file->fd());
  return fds;
}

CacheFilePublisher::CacheFilePublisher(const Plan& plan, const Control<SystemPolicy>& control,
                                       ByStage<SlotRing> rings, CacheFiles& files)
    : plan_(plan), control_(control), rings_(std::move(rings)) {
  for (const StageNumber s : files.numbers())
    if (files[s] != nullptr) fillings_.push_back({s, files[s].get(), 0, 0, false});
}

Result<std::unique_ptr<CacheFilePublisher>> CacheFilePublisher::start(
    const Plan& plan, const Control<SystemPolicy>& control, ByStage<SlotRing> rings,
    CacheFiles& files) {
  std::unique_ptr<CacheFilePublisher> cache_publisher(
      new CacheFilePublisher(plan, control, std::move(rings), files));
  if (cache_publisher->fillings_.empty()) return cache_publisher;
  BRIGADE_ASSIGN(cache_publisher->thread_,
                 start_thread([raw = cache_publisher.get()] { raw->run(); }));
  return cache_publisher;
}

CacheFilePublisher::~CacheFilePublisher() {
  over_ = true;
  if (thread_.joinable()) thread_.join();
}

void CacheFilePublisher::run() {
  while (!over_) {
    for (Filling& filling : fillings_) look(filling);
    std::this_thread::sleep_for(kLookEvery);
  }
}

void CacheFilePublisher::look(Filling& filling) {
  if (filling.over) return;
  const PlanStage& stage = plan_.stages[filling.stage];
  if (filling.samples == 0) {
    const IndexSpaceNumber index_space = stage.queues[0].index_space;
    const std::uint64_t samples = control_.index_spaces[index_space]->epoch_samples.value.load();
    if (samples == kNever) return;
    filling.samples = samples;
  }
  const CacheSlots slots(stage, rings_[filling.stage]);
  if (filling.samples > slots.slots()) return;
  while (filling.next < filling.samples && slots.state(filling.next) != SlotState::pad)
    ++filling.next;
  if (filling.next < filling.samples) return;
  filling.over = true;
  auto published = filling.file->publish(filling.samples);
  if (published)
    return lines_.push_back({false, concat(describe(stage), " is complete with ",
                                           format_count(filling.samples), " samples")});
  lines_.push_back({true, concat("cache ", quote(stage.name), ": ", published.error().message)});
}

std::vector<CacheFilePublisher::Line> CacheFilePublisher::finish() {
  over_ = true;
  if (thread_.joinable()) thread_.join();
  for (Filling& filling : fillings_) {
    look(filling);
    if (filling.over) continue;
    const PlanStage& stage = plan_.stages[filling.stage];
    lines_.push_back(
        {false, concat(describe(stage), " is not written: the run did not cache every sample")});
  }
  return std::move(lines_);
}

}  // namespace brigade
