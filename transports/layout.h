#pragma once

// The control segment: every word that processes share, at offsets that are a
// pure function of the graph's shape. The supervisor lays it out once, before
// any worker exists; a worker computes the same offsets from its plan and does
// not attach if the hashes differ. docs/MEMORY_LAYOUT.md shows it in bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include <brigade/result.h>
#include "transports/doorbell.h"
#include "transports/journal.h"
#include "transports/number_list.h"
#include "transports/shape.h"
#include "transports/tally.h"
#include "transports/watermark.h"

namespace brigade {

/// What the graph as a whole is doing.
enum class Phase : std::uint64_t { starting = 0, running = 1, aborting = 2 };

/// A stop goes through three values of the index space's `stop` word.
enum class Stop : std::uint64_t { none = 0, asked = 1, end_is_set = 2 };

struct ControlHeader {
  char magic[8];
  std::uint64_t layout_hash;
  std::uint64_t bytes;
  std::uint64_t wake_order;  ///< WakeOrder, of all replicas
};
inline constexpr char kControlMagic[8] = {'B', 'R', 'I', 'G', 'A', 'D', 'E', '1'};

template <class P>
struct IndexSpaceWords {
  Line<P> end;            ///< kNever while unknown
  Line<P> stop;           ///< Stop
  Line<P> epoch_samples;  ///< S; kNever until the start barrier
  Line<P> epoch_period;   ///< P = S rounded up to L
};

template <class P>
struct ReplicaWords {
  Line<P> in_flight;  ///< in-flight sample, kNever when there is none
  Line<P> ack;        ///< 1: this source replica claims no more before its index space has its end
  Line<P> ended;      ///< epochs whose epoch_end has been called, per replica
  Line<P> state;      ///< the process layer's own: how far it is
};

template <class P>
struct QueueWords {
  Watermark<P>* watermark = nullptr;
  TaskTable<P> table;
  Tally<P>* tallies = nullptr;  ///< one per replica of the stage
};

template <class P>
struct StageWords {
  Line<P>* repairs = nullptr;
  Line<P>* fingerprint = nullptr;  ///< of an indexed source; 0 until its first replica has opened
  Line<P>* source_samples = nullptr;  ///< all that it has found; 0 until then, and of a stream
  NumberList<P> skips;
  NumberList<P> quarantine;
  Journal<P> journal;  ///< without ports for most stages
  ByQueue<QueueWords<P>> queues;
};

/// A process's typed pointers into the control segment.
template <class P>
struct Control {
  const SharedShape* shape = nullptr;
  Line<P>* phase = nullptr;
  ByIndexSpace<IndexSpaceWords<P>*> index_spaces;
  ByIndexSpace<NumberList<P>> epoch_ends;  ///< transports/epochs.h reads them
  ByStage<StageWords<P>> stages;
  ReplicaWords<P>* replicas = nullptr;  ///< array of shape->replicas
  Doorbell<P>* doorbells = nullptr;     ///< array of shape->replicas
  std::byte* extra = nullptr;           ///< replica r's at r * replica_extra_bytes
  std::uint64_t bytes = 0;
  WakeOrder wake_order = WakeOrder::by_finisher;

  int waiter_words() const { return (shape->replicas + 63) / 64; }

  /// Calls use(words, fan_out) for every index space whose numbers are derived from
  /// `index_space`'s.
  template <class Use>
  void for_each_derived(IndexSpaceNumber index_space, Use use) const {
    for (const DerivedIndexSpace& derived : shape->derived)
      if (derived.above == index_space) use(*index_spaces[derived.index_space], derived.fan_out);
  }
};

/// The run has failed, and its replicas are threads, which must leave by themselves. The ends of
/// its index spaces mean nothing any more (abort_all in stop.h).
template <class P>
bool is_aborting(const Control<P>& control) {
  return control.phase->value.load(std::memory_order_seq_cst) ==
         static_cast<std::uint64_t>(Phase::aborting);
}

namespace detail {

/// Hands out consecutive, cache-line aligned pieces of a segment; with a null base only counts, and
/// saturates: a shape (of a plan out of foreign memory) that no memory holds has a size that no
/// segment has.
class Carver {
 public:
  Carver(std::byte* base, bool initialise) : base_(base), initialise_(initialise) {}

  template <class T>
  T* take(std::uint64_t count) {
    T* first = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + used_);
    if (used_ >= kBytesMax || count > (kBytesMax - used_) / sizeof(T)) {
      used_ = kBytesMax;
      return first;
    }
    used_ += (count * sizeof(T) + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
    if (initialise_) {
      for (std::uint64_t i = 0; i < count; ++i) new (first + i) T();
    }
    return first;
  }
  std::uint64_t used() const { return used_; }

 private:
  static constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 62;

  std::byte* base_;
  bool initialise_;
  std::uint64_t used_ = 0;
};

template <class P>
StageWords<P> carve_stage(Carver& carver, const StageShape& shape) {
  using Word = typename P::template Atomic<std::uint64_t>;
  StageWords<P> words;
  words.repairs = carver.take<Line<P>>(1);
  words.fingerprint = carver.take<Line<P>>(1);
  words.source_samples = carver.take<Line<P>>(1);
  words.skips = {carver.take<Word>(shape.skips_max), shape.skips_max};
  words.quarantine = {carver.take<Word>(shape.quarantine_max), shape.quarantine_max};
  if (shape.journal_ports > 0) {
    const auto entry = static_cast<std::uint64_t>(Journal<P>::entry_words(shape.journal_ports));
    Line<P>* const sequence = carver.take<Line<P>>(1);
    Word* const even = carver.take<Word>(entry);
    words.journal = {sequence, even, carver.take<Word>(entry), shape.journal_ports};
  }
  for (const QueueShape& queue : shape.queues) {
    QueueWords<P> queue_words;
    queue_words.watermark = carver.take<Watermark<P>>(1);
    queue_words.table = {carver.take<Line<P>>(queue.window), queue.window};
    queue_words.tallies = carver.take<Tally<P>>(static_cast<std::uint64_t>(shape.replicas));
    words.queues.push_back(queue_words);
  }
  return words;
}

template <class P>
NumberList<P> carve_epoch_ends(Carver& carver, const SharedShape& shape,
                               IndexSpaceNumber index_space) {
  const std::uint64_t ends = shape.epoch_ends.has(index_space) ? shape.epoch_ends[index_space] : 0;
  return {carver.take<typename P::template Atomic<std::uint64_t>>(ends), ends};
}

template <class P>
Control<P> carve(std::byte* base, const SharedShape& shape, bool initialise) {
  Carver carver(base, initialise);
  carver.take<ControlHeader>(1);
  Control<P> control;
  control.shape = &shape;
  control.phase = carver.take<Line<P>>(1);
  for (int d = 0; d < shape.index_spaces; ++d) {
    control.index_spaces.push_back(carver.take<IndexSpaceWords<P>>(1));
    control.epoch_ends.push_back(carve_epoch_ends<P>(carver, shape, IndexSpaceNumber(d)));
  }
  for (const StageShape& stage : shape.stages) {
    control.stages.push_back(carve_stage<P>(carver, stage));
  }
  const auto replicas = static_cast<std::uint64_t>(shape.replicas);
  control.doorbells = carver.take<Doorbell<P>>(replicas);
  control.replicas = carver.take<ReplicaWords<P>>(replicas);
  control.extra = carver.take<std::byte>(replicas * shape.replica_extra_bytes);
  control.bytes = carver.used();
  return control;
}

}  // namespace detail

/// Bytes of the control segment.
template <class P>
std::uint64_t control_bytes(const SharedShape& shape) {
  return detail::carve<P>(nullptr, shape, false).bytes;
}

/// Supervisor, once, on zeroed memory of control_bytes(), before any worker exists. `shape` must
/// outlive the result. `order`: by_sleeper where every process that finishes tasks joins the
/// barriers (transports/policy.h) before its first one.
template <class P>
Control<P> create_control(std::byte* memory, const SharedShape& shape,
                          WakeOrder order = WakeOrder::by_finisher) {
  Control<P> control = detail::carve<P>(memory, shape, true);
  control.wake_order = order;
  constexpr auto relaxed = std::memory_order_relaxed;  // nobody else is there yet
  for (IndexSpaceWords<P>* index_space : control.index_spaces) {
    index_space->end.value.store(kNever, relaxed);
    index_space->epoch_samples.value.store(kNever, relaxed);
  }
  for (const StageNumber s : control.stages.numbers()) {
    for (const QueueNumber l : control.stages[s].queues.numbers()) {
      QueueWords<P>& queue = control.stages[s].queues[l];
      queue.table.initialise();  // words older than the start read as OPEN
      queue.watermark->level.value.store(shape.stages[s].queues[l].start, relaxed);
    }
  }
  for (int r = 0; r < shape.replicas; ++r)
    control.replicas[r].in_flight.value.store(kNever, relaxed);
  auto* header = reinterpret_cast<ControlHeader*>(memory);
  header->layout_hash = shape.hash();
  header->bytes = control.bytes;
  header->wake_order = static_cast<std::uint64_t>(order);
  std::copy(std::begin(kControlMagic), std::end(kControlMagic), header->magic);
  return control;
}

/// Checks that `memory` is a control segment of this program.
Result<ControlHeader> read_control_header(const std::byte* memory, std::uint64_t bytes);
/// Refuses a segment that was laid out for another shape, with both values.
Result<void> check_layout(const ControlHeader& header, const SharedShape& shape,
                          std::uint64_t expected_bytes);

template <class P>
Result<Control<P>> attach_control(std::byte* memory, std::uint64_t bytes,
                                  const SharedShape& shape) {
  BRIGADE_ASSIGN(const ControlHeader header, read_control_header(memory, bytes));
  BRIGADE_TRY(check_layout(header, shape, control_bytes<P>(shape)));
  Control<P> control = detail::carve<P>(memory, shape, false);
  control.wake_order = static_cast<WakeOrder>(header.wake_order);
  return control;
}

}  // namespace brigade
