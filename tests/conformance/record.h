#pragma once

// What a consumer saw, and whether that is what it must see. A record is the list of one replica's
// calls and ends of epochs, in their order.

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/config/graph/valid_graph.h"

namespace brigade::conformance {

struct Event {
  enum class Kind { call, epoch_end } kind = Kind::call;
  std::string port;
  std::uint32_t epoch = 0;
  std::uint64_t number = 0;          ///< of a call's first sample
  std::vector<std::string> samples;  ///< of a call, as sample_text()
};
using Events = std::vector<Event>;

/// What all replicas of a consumer together must see.
struct Expected {
  struct Call {
    Event event;
    int queue = 0;
    int replica = 0;  ///< under `assign: fixed`: whose it is
  };
  std::string stage;
  Join join = Join::single;
  bool fixed = false;
  bool recorded = true;  ///< by `record`; else it is a `count`
  int replicas = 1;
  std::uint32_t epochs = 1;
  std::vector<std::string> ports;   ///< of the task queues, in their order
  std::vector<std::uint32_t> ends;  ///< by port: epochs it has; of others `epochs`
  std::vector<Call> calls;          ///< by epoch, task queue and number

  std::uint64_t samples() const;
};

/// Samples that are numbered anew get other numbers in a resumed run: their places in the epoch
/// stay.
void forget_numbers(Event& event);

/// FOLDER/STAGE.0, .1, ...: one record per replica.
std::vector<Events> read_records(const std::string& folder, const std::string& stage, int replicas);

/// The first difference, in words; empty when there is none. Asks for
/// - every call, with these samples in this order, exactly once, and no other;
/// - in every replica: calls in the order of the stream (under `merge`, of each source), its own
///   calls only under `assign: fixed`, the end of every epoch once per source, no call of an epoch
///   after its end, and with a single replica none before the end of the epoch before.
/// `repeats`: of a consumer whose processes were killed. It asks for every call at least once, and
/// for nothing that is no such call.
std::string difference(const Expected& expected, const std::vector<Events>& seen,
                       bool repeats = false);

}  // namespace brigade::conformance
