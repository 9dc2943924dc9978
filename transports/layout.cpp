#include "transports/layout.h"

#include <cstring>

namespace brigade {
namespace {

constexpr std::uint64_t kLayoutVersion = 5;

class Hasher {
 public:
  void add(std::uint64_t value) {  // FNV-1a over the bytes
    for (int shift = 0; shift < 64; shift += 8) {
      hash_ = (hash_ ^ (value >> shift & 0xff)) * 1099511628211ull;
    }
  }
  template <class Kind>
  void add(Number<Kind> number) {
    add(static_cast<std::uint64_t>(number.value()));
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 1469598103934665603ull;
};

void add_queue(Hasher& hasher, const QueueShape& queue) {
  hasher.add(queue.task);
  hasher.add(queue.window);
  hasher.add(queue.index_space);
  hasher.add(queue.in_order ? 1 : 0);
  hasher.add(queue.fixed ? 1 : 0);
  hasher.add(queue.start);
  hasher.add(queue.inputs.size());
  for (const StageNumber input : queue.inputs) hasher.add(input);
}

std::string hex(std::uint64_t value) {
  std::string text = "0x";
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[value >> shift & 15];
  return text;
}

}  // namespace

std::uint64_t SharedShape::hash() const {
  Hasher hasher;
  hasher.add(kLayoutVersion);
  for (std::uint64_t size :
       {sizeof(ControlHeader), sizeof(Line<SystemPolicy>), sizeof(Watermark<SystemPolicy>),
        sizeof(Tally<SystemPolicy>), sizeof(IndexSpaceWords<SystemPolicy>),
        sizeof(ReplicaWords<SystemPolicy>)}) {
    hasher.add(size);
  }
  hasher.add(static_cast<std::uint64_t>(index_spaces));
  hasher.add(static_cast<std::uint64_t>(replicas));
  hasher.add(replica_extra_bytes);
  hasher.add(derived.size());
  for (const DerivedIndexSpace& one : derived) {
    hasher.add(one.index_space);
    hasher.add(one.above);
    hasher.add(one.fan_out);
  }
  hasher.add(epoch_ends.size());
  for (const std::uint64_t ends : epoch_ends) hasher.add(ends);
  for (const StageShape& stage : stages) {
    hasher.add(static_cast<std::uint64_t>(stage.first_replica));
    hasher.add(static_cast<std::uint64_t>(stage.replicas));
    hasher.add(stage.slots);
    hasher.add(stage.fan_out);
    hasher.add(stage.source ? 1 : 0);
    hasher.add(stage.application ? 1 : 0);
    hasher.add(static_cast<std::uint64_t>(stage.interleave));
    hasher.add(stage.skips_max);
    hasher.add(stage.quarantine_max);
    hasher.add(static_cast<std::uint64_t>(stage.journal_ports));
    hasher.add(stage.queues.size());
    for (const QueueShape& queue : stage.queues) add_queue(hasher, queue);
  }
  return hasher.value();
}

Result<ControlHeader> read_control_header(const std::byte* memory, std::uint64_t bytes) {
  if (bytes < sizeof(ControlHeader)) {
    return Error{"the control segment has " + std::to_string(bytes) +
                 " bytes, less than its header: " + std::to_string(sizeof(ControlHeader))};
  }
  ControlHeader header;
  std::memcpy(&header, memory, sizeof header);
  if (std::memcmp(header.magic, kControlMagic, sizeof kControlMagic) != 0) {
    return Error{"this is not a Brigade control segment: its magic bytes are missing"};
  }
  if (header.bytes != bytes) {
    return Error{"the control segment declares " + std::to_string(header.bytes) +
                 " bytes, the file has " + std::to_string(bytes)};
  }
  if (header.wake_order > static_cast<std::uint64_t>(WakeOrder::by_sleeper)) {
    return Error{"the control segment uses the wake-up order " + std::to_string(header.wake_order) +
                 ", this program supports 0 and 1; start all processes from one build"};
  }
  return header;
}

Result<void> check_layout(const ControlHeader& header, const SharedShape& shape,
                          std::uint64_t expected_bytes) {
  if (header.layout_hash == shape.hash() && header.bytes == expected_bytes) return {};
  return Error{"the control segment belongs to another version of Brigade: layout " +
               hex(header.layout_hash) + " with " + std::to_string(header.bytes) +
               " bytes, this program has " + hex(shape.hash()) + " with " +
               std::to_string(expected_bytes) + "; start all processes from one build"};
}

}  // namespace brigade
