#pragma once

// A stream that ends epochs (end_epoch() of transports/stop.h), and a consumer under `join: epochs`
// (transports/joined_queues.h) that takes them in turns with those of another source, which has
// ended. The stream's epochs need no padding: the slot after an end may be there at once. The
// consumer begins anew after every task, as a successor does, so that where it stands follows from
// the shared words.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/line.h"
#include "tests/weak_memory/recorded_policy.h"
#include "transports/joined_queues.h"
#include "transports/stop.h"
#include "transports/wait.h"

namespace brigade::weak_memory {

class EndsProgram : public NamedWords {
 public:
  /// `late`: a mistake, an end is recorded after the first slot of the next epoch.
  EndsProgram(bool late, WakeOrder order);

  bool turn(int thread, uint16_t& from) override;
  Access name(int thread, const Operation& operation, FaultPoint after) const override;
  const char* at_end(const State& state) const override;
  std::string thread_name(int thread) const override;

 private:
  using P = RecordedPolicy;

  bool stream();
  bool consume();

  const bool late_;
  const SharedShape shape_;
  support::LineMemory memory_;
  Control<P> control_;
  int stream_level_ = 0;
  std::vector<int> recorded_;  // words
  // Of the turn that runs, or that a longjmp has left.
  std::optional<Channel<P>> channel_;
  std::optional<JoinedQueues<P>> queues_;
};

}  // namespace brigade::weak_memory
