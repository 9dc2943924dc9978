#include "pipeline/memory/shared_tensors.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include <brigade/text.h>
#include "base/arithmetic.h"
#include "base/io.h"
#include "pipeline/memory/shared_files.h"
#include "pipeline/plan/ring_layout.h"
#include "pipeline/plan/shared_tensors.h"

namespace brigade {
namespace {

constexpr auto kBeside = std::byte{0xA5};  // what nobody may write

std::uint64_t* word_of(const Mapping& memory) { return &shared_head(memory).initialised; }

/// The word, and pages [first, last) of the elements between pages that nobody may touch.
Result<std::shared_ptr<const Mapping>> map_pages(int fd, std::uint64_t first, std::uint64_t last) {
  const FilePart parts[] = {{fd, 0, kArrayAlignment},
                            {kNobodys, 0, kArrayAlignment},
                            {fd, kArrayAlignment + first, last - first},
                            {kNobodys, 0, kArrayAlignment}};
  BRIGADE_ASSIGN(Mapping mapping, map_memory(parts, MapMode::read_write));
  return std::make_shared<const Mapping>(std::move(mapping));
}

Result<const PlanShared*> granted_tensor(const Plan& plan, const SharedGrant& grant) {
  if (grant.tensor < 0 || static_cast<std::size_t>(grant.tensor) >= plan.shared.size())
    return Error{concat("a grant names the unknown shared tensor ", grant.tensor)};
  const PlanShared& shared = plan.shared[static_cast<std::size_t>(grant.tensor)];
  const std::uint64_t expected = shared_layout(shared, grant.guarded).bytes;
  BRIGADE_ASSIGN(const std::uint64_t bytes, memory_bytes(grant.fd));
  if (bytes != expected)
    return Error{concat("shared tensor ", quote(shared.type.name), " has ", bytes,
                        " bytes, expected ", expected)};
  return &shared;
}

SharedTensor tensor_of(const PlanShared& shared, bool part, SharedTensor::Memory memory) {
  Shape shape = shared.type.bounds();
  if (part) shape[0] /= static_cast<std::int64_t>(shared.parts);
  return {shared.type.name, shared.type.dtype, shape, std::move(memory)};
}

constexpr auto kLook = std::chrono::milliseconds(1);
constexpr int kLooksUntilSaid = 5000;

}  // namespace

Result<std::shared_ptr<SharedTensors>> SharedTensors::create(const Plan& plan,
                                                             const ResumePoint& resume,
                                                             bool guarded) {
  std::shared_ptr<SharedTensors> made(new SharedTensors(plan, guarded));
  for (const PlanShared& shared : plan.shared)
    if (auto one = made->make(shared, resume); !one)
      return one.error().within(concat("shared tensor ", quote(shared.type.name)));
  return made;
}

Result<void> SharedTensors::make(const PlanShared& shared, const ResumePoint& resume) {
  const SharedLayout layout = shared_layout(shared, guarded_);
  Segment& segment = segments_.emplace_back();
  BRIGADE_ASSIGN(segment.file,
                 MemoryFile::create("brigade-shared-" + shared.type.name, layout.bytes));
  BRIGADE_ASSIGN(segment.memory, map_pages(segment.file.fd(), 0, layout.bytes - kArrayAlignment));
  BRIGADE_TRY(populate(segment.memory->data(), kArrayAlignment, segment.file.fd(), 0));
  BRIGADE_TRY(populate(segment.memory->data() + 2 * kArrayAlignment, layout.bytes - kArrayAlignment,
                       segment.file.fd(), kArrayAlignment));
  if (layout.stride != layout.part_bytes) {
    std::memset(segment.memory->data() + 2 * kArrayAlignment, std::to_integer<int>(kBeside),
                layout.bytes - kArrayAlignment);
    for (std::uint64_t i = 0; i < shared.parts; ++i)
      std::memset(part(shared, segment, i), 0, layout.part_bytes);
  }
  begin_shared_head(*segment.memory, resume.identity);
  if (!resume.stages.empty() && !shared.save_file.empty()) {
    BRIGADE_TRY(
        resume_shared(shared, guarded_, *segment.memory, resume.identity, plan_.checkpoint_file));
  } else if (!shared.init_file.empty()) {
    BRIGADE_TRY(load_shared(shared, guarded_, *segment.memory, shared.init_file));
  } else if (shared.init_stage != -1) {
    return {};
  }
  *word_of(*segment.memory) = 1;
  return {};
}

SharedTensors::Segment& SharedTensors::segment(const PlanShared& shared) const {
  return segments_[static_cast<std::size_t>(&shared - plan_.shared.data())];
}

std::byte* SharedTensors::part(const PlanShared& shared, const Segment& segment,
                               std::uint64_t number) const {
  return shared_part(shared, guarded_, *segment.memory, number);
}

SharedGrant SharedTensors::grant(int tensor) const {
  return {tensor, segments_[static_cast<std::size_t>(tensor)].file.fd(), guarded_};
}

Result<SharedTensor> SharedTensors::find(std::string_view name) const {
  std::vector<std::string> names;
  for (const PlanShared& shared : plan_.shared) {
    names.push_back(quote(shared.type.name));
    if (shared.type.name != name) continue;
    const Segment& found = segment(shared);
    const SharedLayout layout = shared_layout(shared, guarded_);
    SharedTensor::Memory memory{found.memory, part(shared, found, 0), word_of(*found.memory),
                                !shared.own_part, false};
    if (layout.stride != layout.part_bytes) {
      const auto copy = std::make_shared<std::vector<std::byte>>(shared.bytes);
      for (std::uint64_t i = 0; i < shared.parts; ++i)
        std::memcpy(copy->data() + i * layout.part_bytes, part(shared, found, i),
                    layout.part_bytes);
      memory.data = copy->data();
      memory.owner =
          std::make_shared<std::pair<decltype(copy), decltype(found.memory)>>(copy, found.memory);
    }
    return tensor_of(shared, false, std::move(memory));
  }
  return Error{concat("there is no shared tensor ", quote(name), ": the graph has ",
                      names.empty() ? "none; declare it in `shared:`" : join(names, ", "))};
}

Result<void> SharedTensors::save() const {
  for (const PlanShared& shared : plan_.shared)
    BRIGADE_TRY(save_shared(shared, guarded_, *segment(shared).memory));
  return {};
}

std::vector<std::string> SharedTensors::written_beside() const {
  std::vector<std::string> lines;
  for (const PlanShared& shared : plan_.shared) {
    const SharedLayout layout = shared_layout(shared, guarded_);
    if (layout.stride == layout.part_bytes) continue;
    for (std::uint64_t i = 0; i < shared.parts; ++i) {
      const std::byte* const data = part(shared, segment(shared), i);
      const auto is_other = [](std::byte byte) { return byte != kBeside; };
      const bool before = std::any_of(data - layout.lead, data, is_other);
      const bool beyond =
          std::any_of(data + layout.part_bytes, data - layout.lead + layout.stride, is_other);
      if (before || beyond)
        lines.push_back(concat("shared tensor ", quote(shared.type.name), ": replica ", i,
                               " wrote ", before ? "before the beginning" : "beyond the end",
                               " of its part: keep its writes within its shape"));
    }
  }
  return lines;
}

std::vector<int> shared_tensors_of(const Plan& plan, const PlanStage& stage) {
  std::vector<int> tensors(stage.shared.begin(), stage.shared.end());
  if (!stage.saves) return tensors;
  for (std::size_t i = 0; i < plan.shared.size(); ++i) {
    const int tensor = static_cast<int>(i);
    if (plan.shared[i].save_file.empty()) continue;
    if (std::find(tensors.begin(), tensors.end(), tensor) == tensors.end())
      tensors.push_back(tensor);
  }
  return tensors;
}

Result<SharedTensor> map_shared_tensor(const Plan& plan, const PlanStage& stage, int replica,
                                       const SharedGrant& grant) {
  BRIGADE_ASSIGN(const PlanShared* const granted, granted_tensor(plan, grant));
  const PlanShared& shared = *granted;
  const SharedLayout layout = shared_layout(shared, grant.guarded);
  const std::uint64_t number = shared.own_part ? static_cast<std::uint64_t>(replica) : 0;
  const std::uint64_t begin = number * layout.stride + layout.lead;
  const std::uint64_t first = begin / kArrayAlignment * kArrayAlignment;
  SharedTensor::Memory memory;
  BRIGADE_ASSIGN(const auto mapping,
                 map_pages(grant.fd, first, round_up(begin + layout.part_bytes, kArrayAlignment)));
  memory.data = mapping->data() + 2 * kArrayAlignment + (begin - first);
  memory.word = word_of(*mapping);
  memory.owner = mapping;
  const bool fills = shared.init_stage != -1 && plan.stages.has(shared.init_stage) &&
                     &plan.stages[shared.init_stage] == &stage && replica == 0;
  SharedTensor made = tensor_of(shared, shared.own_part, memory);
  if (!fills || made.initialised()) return made;
  memory.fill = true;
  return tensor_of(shared, false, std::move(memory));
}

Result<ReplicaShared> map_shared_tensors(const Plan& plan, const PlanStage& stage, int replica,
                                         std::span<const SharedGrant> grants) {
  struct Saved {
    const PlanShared* shared;
    bool guarded;
    std::shared_ptr<const Mapping> memory;
  };
  ReplicaShared mapped;
  std::vector<Saved> saved;
  for (const SharedGrant& grant : grants) {
    if (std::find(stage.shared.begin(), stage.shared.end(), grant.tensor) != stage.shared.end()) {
      BRIGADE_ASSIGN(SharedTensor one, map_shared_tensor(plan, stage, replica, grant));
      mapped.tensors.push_back(std::move(one));
    }
    BRIGADE_ASSIGN(const PlanShared* const shared, granted_tensor(plan, grant));
    if (!stage.saves || shared->save_file.empty()) continue;
    const std::uint64_t bytes = shared_layout(*shared, grant.guarded).bytes;
    BRIGADE_ASSIGN(auto memory, map_pages(grant.fd, 0, bytes - kArrayAlignment));
    // Of the stage's own stores none may go there; the mutex lies in the first page.
    if (mprotect(memory->data() + 2 * kArrayAlignment, bytes - kArrayAlignment, PROT_READ) != 0)
      return error_of_errno("cannot protect a shared tensor");
    saved.push_back({shared, grant.guarded, std::move(memory)});
  }
  if (saved.empty()) return mapped;
  mapped.save = [saved = std::move(saved)]() -> Result<void> {
    for (const Saved& one : saved) BRIGADE_TRY(save_shared(*one.shared, one.guarded, *one.memory));
    return {};
  };
  return mapped;
}

bool await_shared_tensors(const std::vector<SharedTensor>& tensors,
                          const std::function<bool()>& ended,
                          const std::function<void(const std::string&)>& waits) {
  for (const SharedTensor& tensor : tensors)
    if (tensor.fill()) std::memset(tensor.data(), 0, tensor.bytes());
  for (const SharedTensor& tensor : tensors) {
    for (int looks = 0; !tensor.fill() && !tensor.initialised(); ++looks) {
      if (ended()) return false;
      if (looks == kLooksUntilSaid)
        waits(concat("waits for shared tensor ", quote(tensor.name()), " to be initialized"));
      std::this_thread::sleep_for(kLook);
    }
  }
  return true;
}

}  // namespace brigade
