// The way into a control segment, as a worker and `brigade leases` go it, over bytes that somebody
// else wrote: it must refuse them or attach, and then see no further than the segment reaches.
// The input is a plan, alone or with the point it resumes from, laid out into a segment of its
// shape (hash and sizes are right, which no mutation would find); after a line "%%" come three
// bytes each for words to overwrite: the place, and what.

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <brigade/check.h>
#include "pipeline/plan/plan_json.h"
#include "pipeline/records/shared_shape.h"
#include "tests/fuzz/entry.h"
#include "transports/audit.h"
#include "transports/channel.h"
#include "transports/epochs.h"

namespace brigade {
namespace {

using P = SystemPolicy;

constexpr std::uint64_t kBytesMax = 1 << 20;
constexpr std::string_view kEdits = "\n%%\n";

/// Zeroed, and not a byte longer than it says: AddressSanitizer sees who goes beyond.
std::unique_ptr<std::byte, void (*)(void*)> make_segment(std::uint64_t bytes) {
  void* memory = nullptr;
  BRIGADE_CHECK(posix_memalign(&memory, kCacheLineBytes, bytes) == 0);
  std::memset(memory, 0, bytes);
  return {static_cast<std::byte*>(memory), std::free};
}

/// Reads what a worker that starts, and everybody who watches, reads.
void look_around(Control<P>& control, const SharedShape& shape) {
  std::uint64_t sum = 0;
  for (int d = 0; d < shape.index_spaces; ++d)
    sum += IndexSpaceEpochs<P>(control, IndexSpaceNumber(d)).end(0);
  for (const StageNumber s : shape.stages.numbers()) {
    const StageShape& stage = shape.stages[s];
    const StageWords<P>& words = control.stages[s];
    const std::uint64_t words_max = control.bytes / sizeof(std::uint64_t);
    BRIGADE_CHECK(stage.skips_max <= words_max, stage.skips_max);  // what is appended stays inside
    BRIGADE_CHECK(stage.quarantine_max <= words_max, stage.quarantine_max);
    sum += words.skips.contains(7) + words.quarantine.contains(7);
    for (int port = 0; port < words.journal.ports(); ++port) sum += words.journal.consumed(port);
    for (const QueueNumber l : stage.queues.numbers()) {
      BRIGADE_CHECK(stage.queues[l].window <= words_max);
      sum += claimed_tasks(control, s, l) + queue_counts(control, s, l).total();
      for (const StageNumber input : stage.queues[l].inputs)
        sum += audit_edge(control, input, s, l).produced;
      for (int r = 0; r < stage.replicas; ++r) {
        Channel<P> channel(control, s, l, r);
        sum += channel.level() + channel.end();
      }
    }
  }
  for (int r = 0; r < shape.replicas; ++r) {
    sum += control.replicas[r].in_flight.value.load() + control.doorbells[r].rings.load();
    const std::byte* extra =
        control.extra + static_cast<std::uint64_t>(r) * shape.replica_extra_bytes;
    for (std::uint64_t i = 0; i < shape.replica_extra_bytes; ++i)
      sum += std::to_integer<std::uint64_t>(extra[i]);
  }
  volatile std::uint64_t used = sum;
  (void)used;
}

std::optional<PlannedRun> read_run(std::string_view text) {
  if (Result<PlannedRun> run = run_from_json(text)) return std::move(*run);
  Result<Plan> plan = plan_from_json(text);
  if (!plan) return std::nullopt;
  return PlannedRun{std::move(*plan), {}};
}

void attach_plan(std::string_view text, std::string_view edits) {
  const std::optional<PlannedRun> run = read_run(text);
  if (!run) return;
  const SharedShape shape = shared_shape(run->plan, run->resume);
  const std::uint64_t bytes = control_bytes<P>(shape);
  if (bytes > kBytesMax) return;
  const auto segment = make_segment(bytes);
  ControlHeader header{{}, shape.hash(), bytes, 0};
  std::memcpy(header.magic, kControlMagic, sizeof kControlMagic);
  std::memcpy(segment.get(), &header, sizeof header);
  const bool untouched = edits.size() < 3;
  for (; edits.size() >= 3; edits.remove_prefix(3)) {
    const auto place = static_cast<std::uint8_t>(edits[0]) | static_cast<std::uint8_t>(edits[1])
                                                                 << 8;
    segment.get()[static_cast<std::uint64_t>(place) * 8 % bytes] = static_cast<std::byte>(edits[2]);
  }
  // As AttachedSegments does it, without the mapping.
  Result<Control<P>> control = attach_control<P>(segment.get(), bytes, shape);
  BRIGADE_CHECK(control || !untouched, "its own layout is refused");
  if (control) look_around(*control, shape);
}

}  // namespace

void fuzz(std::string_view input) {
  const std::size_t end = input.find(kEdits);
  const bool edited = end != input.npos;
  attach_plan(input.substr(0, end), edited ? input.substr(end + kEdits.size()) : "");
}

}  // namespace brigade
