#pragma once

// One run of a small line around a stage that numbers its outputs freely: one or two sources, the
// stage, which may die at any step and is then repaired and started again, and a reader of batches.
// After every step: marks only grow. At the end: the reader has seen the outputs of every input
// once, together and in the order of each source, padded to whole batches; and the books are exact.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/line.h"
#include "tests/transports/stepping/stepped_policy.h"
#include "transports/audit.h"
#include "transports/free_lanes.h"
#include "transports/stop.h"
#include "transports/wait.h"

namespace brigade::stepping {

struct MergeScenario {
  std::string name;
  int sources = 1;
  std::uint64_t samples = 3;  ///< of each source
  std::uint64_t input_rows = 2;
  std::uint64_t output_rows = 2;
  std::uint64_t batch = 2;  ///< of the reader
  int deaths = 0;
  int detours = 2;
  bool store_buffers = true;
  RepairRules rules;
  bool repeats_outputs = false;  ///< a mistake: outputs that are there already are not left out
};

class SteppedMerge {
 public:
  explicit SteppedMerge(const MergeScenario& scenario);

  /// Empty when everything held; else what did not.
  std::string run(Chooser& chooser);
  const std::string& trace() const { return trace_; }

 private:
  using P = SteppedPolicy;

  struct Row {
    std::uint64_t number = 0;
    std::uint64_t value = 0;  ///< 0: padding
  };

  static GraphShape shape_of(const MergeScenario& scenario);
  /// Holes have no outputs, others 0, 1 or 2.
  static std::uint64_t outputs_of(std::uint64_t sample) { return sample % 4; }
  static bool is_hole(std::uint64_t sample) { return sample % 4 == 3; }
  static std::uint64_t value_of(int source, std::uint64_t sample, std::uint64_t output) {
    return 1000 * static_cast<std::uint64_t>(source + 1) + 10 * sample + output + 1;
  }

  void reset();
  std::uint64_t fingerprint() const;
  void start(int stage);
  void source(int stage);
  void merger();
  void take(FreeLanes<P>& lanes, std::uint64_t sample);
  std::uint64_t room(FreeLanes<P>& lanes);
  void write(FreeLanes<P>& lanes, std::uint64_t value);
  void reader();
  void supervisor();
  void check_marks();
  void check_the_end();
  int merge() const { return scenario_.sources; }
  Bell<P>& bell(int stage) { return control_.bells[stage]; }

  const MergeScenario& scenario_;
  const GraphShape shape_;
  support::LineMemory memory_;
  Control<P> control_;
  std::vector<Row> rows_;              // of the merge's pool
  std::vector<std::uint64_t> seen_;    // by the reader, with the padding
  std::vector<std::uint64_t> lows_;    // of the merge's lanes
  std::vector<const Fiber*> workers_;  // by stage
  bool dead_ = false;
  Fibers* fibers_ = nullptr;
  std::string trace_;
};

}  // namespace brigade::stepping
