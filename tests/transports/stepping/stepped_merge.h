#pragma once

// One run of a small line around a flat_map stage: one or two sources, the
// stage as FlatMapRun drives it, and one or two readers of batches. The stage or a source may die
// at any step and is then repaired and started again. After every step: watermarks only grow. At
// the end: each reader has seen the outputs of every input once, together, in the order of each
// source, under the epoch of their input and each epoch padded to whole batches; the stage was told
// of every epoch; and the audit are exact.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/transports/stepping/stepped_run.h"
#include "transports/flat_map_run.h"
#include "transports/stream_ends.h"

namespace brigade::stepping {

struct MergeScenario : Events {
  using Run = class SteppedMerge;
  /// By source and epoch: how many samples it has.
  std::vector<std::vector<std::uint64_t>> samples = {{3}};
  bool streams = false;  ///< epochs end where the source says; else all are as long as the first
  std::uint64_t slot_io = 2;
  std::uint64_t input_multiple = 1;  ///< L of the sources
  std::uint64_t output_slots = 2;
  std::uint64_t batch = 2;  ///< of the readers: L of the outputs
  int readers = 1;
  bool repeats_outputs = false;  ///< a mistake: a successor gives the first outputs again
  bool records_late = false;     ///< a mistake: an end, after the first slot beyond it is published
};

class SteppedMerge : public SteppedRun {
 public:
  explicit SteppedMerge(const MergeScenario& scenario);

 private:
  struct Slot {
    std::uint64_t number = 0;
    std::uint64_t value = 0;  ///< 0: padding
    std::uint64_t epoch = 0;
  };

  /// The stage, for FlatMapRun.
  struct Body {
    SteppedMerge* line;
    std::uint64_t sample = 0;
    std::uint64_t written = 0;  // of its outputs, by this replica

    Result<FlatMapInput> look(int port, std::uint64_t number);
    void write(int port, std::uint64_t i, std::uint64_t number, std::uint64_t epoch);
    void pad(std::uint64_t number, std::uint64_t epoch) { line->write_slot({number, 0, epoch}); }
    void done(const FlatMapInput&) {}
    Result<void> tell(std::uint64_t epoch);
    void interrupt() {}
    void begin_wait(Cause) {}
    void end_wait(Cause) {}
  };

  static SharedShape line_of(const MergeScenario& scenario);
  /// Empty slots have no outputs, others 0, 1 or 2.
  static std::uint64_t outputs_of(std::uint64_t sample) { return sample % 4; }
  static bool is_empty(std::uint64_t sample) { return sample % 4 == 3; }
  static std::uint64_t value_of(int source, std::uint64_t sample, std::uint64_t output) {
    return 1000 * static_cast<std::uint64_t>(source + 1) + 10 * sample + output + 1;
  }

  int merge() const { return static_cast<int>(scenario_.samples.size()); }
  std::uint64_t epochs() const { return scenario_.samples[0].size(); }
  std::uint64_t begin_of(int source, std::uint64_t epoch) const;
  std::uint64_t epoch_of(int source, std::uint64_t number) const;
  bool is_padding(int source, std::uint64_t number) const;

  void reset() override;
  void live(StageNumber stage, int replica) override;
  std::uint64_t own_state() const override;
  void lower_ends() override {
    for (int s = 0; s < merge(); ++s)
      lower_end(control_, IndexSpaceNumber(s), scenario_.input_multiple);
  }
  void check_the_end() override;
  void check_reader(int reader);
  void source(int stage);
  bool goes_on(int stage, StreamEnds<P>& ends, std::uint64_t number);
  void write_slot(const Slot& slot);
  void reader(int reader);
  SlotState state_of(int source, std::uint64_t number) const;
  std::vector<std::uint64_t> expected(std::uint64_t epoch, int source) const;
  void check_input(int source);

  const MergeScenario& scenario_;
  std::vector<std::vector<SlotState>> inputs_;  // by source and number, as it was published
  std::vector<Slot> slots_;                     // of the merge's ring
  std::vector<std::vector<Slot>> seen_;         // by reader, with the padding
  std::vector<int> told_;                       // by epoch
};

}  // namespace brigade::stepping
