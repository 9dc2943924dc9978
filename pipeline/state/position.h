#pragma once

// The positions of the consumers of a run, for a checkpoint and for a program's state
// (run_state.h). As (epoch, index), not as numbers: how many numbers an epoch takes
// depends on task sizes, which may differ in the resumed run. Plain data, and its JSON.
//
// A file of positions has one entry, or two while the saved bytes are
// being replaced: an entry is valid if its digest matches the saved bytes.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/result.h>
#include "pipeline/plan/sample_address.h"

namespace brigade {

/// What a source was when the position was written.
struct SourceIdentity {
  std::string stage;
  std::uint64_t samples = 0;      ///< per epoch, of this process
  std::uint64_t fingerprint = 0;  ///< Producer::fingerprint(); 0: it has none
  friend bool operator==(const SourceIdentity&, const SourceIdentity&) = default;
};

/// A sample that a stage reads.
struct StageSample {
  std::string stage;
  SampleInQueue sample;
  friend bool operator==(const StageSample&, const StageSample&) = default;
};

/// Of one consumer.
struct Position {
  std::string run;     ///< ResumePoint::run_id of the command that wrote it
  std::string digest;  ///< of what was saved with it; empty: nothing was
  /// By source: everything before it has been consumed. Below stages that make k samples of each,
  /// its index counts what they make.
  ByQueue<SamplePosition> queues;
  std::uint64_t epoch_ends_told = 0;
  std::uint64_t samples = 0;  ///< FULL slots consumed, by that command
  std::vector<SourceIdentity> sources;
  std::vector<StageSample> quarantined;  ///< they end their workers
  /// They failed and were skipped; as far as they count (`on_error: skip`).
  std::vector<StageSample> skipped;
  std::string identity{};   ///< ResumePoint::identity of the run; empty: not kept
  std::string libraries{};  ///< ResumePoint::libraries; empty: none, or not kept
  friend bool operator==(const Position&, const Position&) = default;
};

struct PositionFile {
  std::string stage;
  std::string order;              ///< order_fingerprint() of the plan
  std::vector<Position> entries;  ///< newest first; not empty
  friend bool operator==(const PositionFile&, const PositionFile&) = default;
};

/// How much of what defines the order a state says: each fact, or digests of a stage's or of all.
enum class OrderDetail : std::uint8_t { facts, stages, graph };

struct ConsumerPosition {
  std::string stage;
  Position position;
  friend bool operator==(const ConsumerPosition&, const ConsumerPosition&) = default;
};

/// Of all consumers of a graph, at one moment of a run.
struct RunState {
  OrderDetail detail = OrderDetail::facts;
  std::string order;  ///< order_fingerprint() of the plan, in this detail
  std::vector<ConsumerPosition> consumers;
  friend bool operator==(const RunState&, const RunState&) = default;
};

/// One line per entry or so; ends with a newline.
std::string position_to_json(const PositionFile& file);
/// Error: what is wrong with the text, in one line.
Result<PositionFile> position_from_json(std::string_view text);

/// One line; ends with a newline.
std::string state_to_json(const RunState& state);
Result<RunState> state_from_json(std::string_view text);

}  // namespace brigade
