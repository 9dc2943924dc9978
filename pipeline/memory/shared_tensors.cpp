#include "pipeline/memory/shared_tensors.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>

#include <brigade/text.h>
#include "base/arithmetic.h"
#include "base/atomic_file.h"
#include "base/io.h"
#include "pipeline/plan/ring_layout.h"
#include "pipeline/plan/shared_tensors.h"
#include "stages/api/npy_header.h"

namespace brigade {
namespace {

constexpr auto kBeside = std::byte{0xA5};  // what nobody may write

std::uint64_t* word_of(const Mapping& memory) {
  return reinterpret_cast<std::uint64_t*>(memory.data());
}

/// The word, and pages [first, last) of the elements between pages that nobody may touch.
Result<std::shared_ptr<const Mapping>> map_pages(int fd, std::uint64_t first, std::uint64_t last) {
  const FilePart parts[] = {{fd, 0, kArrayAlignment},
                            {kNobodys, 0, kArrayAlignment},
                            {fd, kArrayAlignment + first, last - first},
                            {kNobodys, 0, kArrayAlignment}};
  BRIGADE_ASSIGN(Mapping mapping, map_memory(parts, MapMode::read_write));
  return std::make_shared<const Mapping>(std::move(mapping));
}

SharedTensor tensor_of(const PlanShared& shared, bool part, SharedTensor::Memory memory) {
  Shape shape = shared.type.bounds();
  if (part) shape[0] /= static_cast<std::int64_t>(shared.parts);
  return {shared.type.name, shared.type.dtype, shape, std::move(memory)};
}

}  // namespace

Result<std::shared_ptr<SharedTensors>> SharedTensors::create(const Plan& plan, bool resumes,
                                                             bool guarded) {
  std::shared_ptr<SharedTensors> made(new SharedTensors(plan, guarded));
  for (const PlanShared& shared : plan.shared)
    if (auto one = made->make(shared, resumes); !one)
      return one.error().within(concat("shared tensor ", quote(shared.type.name)));
  return made;
}

Result<void> SharedTensors::make(const PlanShared& shared, bool resumes) {
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
  const std::string& file =
      resumes && !shared.save_file.empty() ? shared.save_file : shared.init_file;
  if (!file.empty()) BRIGADE_TRY(load(shared, segment, file));
  if (file.empty() && shared.init_stage != -1) return {};
  *word_of(*segment.memory) = 1;
  return {};
}

Result<void> SharedTensors::load(const PlanShared& shared, const Segment& segment,
                                 const std::string& file) {
  const OwnedFd fd(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (fd.get() < 0) return error_of_errno(concat("cannot read ", file));
  std::string head(kMetadataBytesMax, '\0');
  const ssize_t have = read_all_at(fd.get(), head.data(), head.size(), 0);
  if (have < 0) return error_of_errno(concat("cannot read ", file));
  head.resize(static_cast<std::size_t>(have));
  BRIGADE_ASSIGN(const NpyHeader header, parse_npy_header(file, head));
  const Shape shape = shared.type.bounds();
  if (header.dtype != shared.type.dtype || header.shape != shape)
    return Error{concat("it is ", dtype_name(shared.type.dtype), shape_text(shape), ", and ", file,
                        " holds ", dtype_name(header.dtype), shape_text(header.shape),
                        "; name another file")};
  const std::uint64_t bytes = shared_layout(shared, guarded_).part_bytes;
  for (std::uint64_t i = 0; i < shared.parts; ++i) {
    const ssize_t got = read_all_at(fd.get(), reinterpret_cast<char*>(part(shared, segment, i)),
                                    bytes, static_cast<off_t>(header.bytes + i * bytes));
    if (got < 0) return error_of_errno(concat("cannot read ", file));
    if (static_cast<std::uint64_t>(got) < bytes)
      return Error{concat(file, " ends before its last number; save it once more")};
  }
  return {};
}

SharedTensors::Segment& SharedTensors::segment(const PlanShared& shared) const {
  return segments_[static_cast<std::size_t>(&shared - plan_.shared.data())];
}

std::byte* SharedTensors::part(const PlanShared& shared, const Segment& segment,
                               std::uint64_t number) const {
  const SharedLayout layout = shared_layout(shared, guarded_);
  return segment.memory->data() + 2 * kArrayAlignment + number * layout.stride + layout.lead;
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
  for (const PlanShared& shared : plan_.shared) {
    const Segment& of = segment(shared);
    const auto header = print_npy_header(shared.type.dtype, shared.type.bounds());
    if (shared.save_file.empty() || !header) continue;
    if (std::atomic_ref(*word_of(*of.memory)).load(std::memory_order_acquire) == 0) continue;
    BRIGADE_ASSIGN(NewFile file, NewFile::create(shared.save_file));
    BRIGADE_TRY(file.write(*header));
    const std::uint64_t bytes = shared_layout(shared, guarded_).part_bytes;
    for (std::uint64_t i = 0; i < shared.parts; ++i)
      BRIGADE_TRY(file.write({reinterpret_cast<const char*>(part(shared, of, i)), bytes}));
    BRIGADE_TRY(file.publish());
  }
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
                               " has written ", before ? "before the beginning" : "beyond the end",
                               " of its part: see that it writes no more than its shape"));
    }
  }
  return lines;
}

Result<SharedTensor> map_shared_tensor(const Plan& plan, const PlanStage& stage, int replica,
                                       const SharedGrant& grant) {
  if (grant.tensor < 0 || static_cast<std::size_t>(grant.tensor) >= plan.shared.size())
    return Error{concat("a grant names shared tensor ", grant.tensor)};
  const PlanShared& shared = plan.shared[static_cast<std::size_t>(grant.tensor)];
  const SharedLayout layout = shared_layout(shared, grant.guarded);
  BRIGADE_ASSIGN(const std::uint64_t bytes, memory_bytes(grant.fd));
  if (bytes != layout.bytes)
    return Error{concat("shared tensor ", quote(shared.type.name), " has ", bytes,
                        " bytes, the plan says ", layout.bytes)};
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

}  // namespace brigade
