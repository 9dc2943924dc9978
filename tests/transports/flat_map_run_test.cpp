// In one thread, with everything there: the order of what the stage is asked to do. Who waits, and
// who dies, is a matter of tests/transports/stepping.

#include "transports/flat_map_run.h"

#include <gtest/gtest.h>

#include <string>

#include <brigade/text.h>
#include "tests/support/line.h"

namespace brigade {
namespace {

/// Writes down what it is asked. Sample s has s mod 3 outputs.
struct Notes {
  std::string text;
  int fails_at = -1;

  Result<FlatMapInput> look(int, std::uint64_t number) {
    if (static_cast<int>(number) == fails_at) return Error{"broken"};
    FlatMapInput input;
    input.outputs = number % 3;
    return input;
  }
  void write(int port, std::uint64_t i, std::uint64_t number, std::uint64_t epoch) {
    text += concat(port, ".", i, ">", number, "e", epoch, " ");
  }
  void pad(std::uint64_t number, std::uint64_t epoch) {
    text += concat("pad>", number, "e", epoch, " ");
  }
  void done(const FlatMapInput& input) { text += input.outputs == 0 ? "none " : ""; }
  Result<void> tell(std::uint64_t epoch) {
    text += concat("told ", epoch, " ");
    return {};
  }
  void interrupt() {}
  void begin_wait(Cause) {}
  void end_wait(Cause) {}
};

/// Two epochs of three samples -> the stage -> a reader of batches of four, who has read nothing.
class FlatMapped : public testing::Test {
 protected:
  FlatMapped() {
    set_end(control_, 0, 3, 3, 2);
    Channel<SystemPolicy> source(control_, 0, 0, 0);
    for (int task = 0; task < 6; ++task) source.finish(source.try_claim().task);
  }
  static SharedShape shape() {
    SharedShape shape =
        support::line_shape({{1, 1, 8, {}, true}, {1, 1, 16, {}, true}, {1, 4, 0, {1}, true}});
    shape.index_spaces = 2;
    StageShape& free = shape.stages[1];
    free.source = false;
    free.journal_ports = 1;
    QueueShape input = free.queues[0];
    input.inputs = {0};
    free.queues[0].index_space = 1;
    free.queues.push_back(input);
    shape.stages[2].queues[0].index_space = 1;
    shape.epoch_ends = {0, 2};
    return shape;
  }
  Result<void> run() {
    return FlatMapRun<SystemPolicy, Notes>(control_, 1, {4, 1}, 0, notes_).run();
  }
  std::uint64_t end() { return control_.index_spaces[1]->end.value; }

  SharedShape shape_ = shape();
  support::LineMemory memory_{control_bytes<SystemPolicy>(shape_)};
  Control<SystemPolicy> control_ = create_control<SystemPolicy>(memory_.data(), shape_);
  Notes notes_;
};

TEST_F(FlatMapped, AnEndThatAPredecessorRecordedIsSaidAgain) {
  ASSERT_TRUE(run().ok());
  control_.index_spaces[1]->end.value = kNever;  // it died before it could say so
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(end(), 8u);
}

TEST_F(FlatMapped, AnAbortEndsIt) {
  abort_all(control_);
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(notes_.text, "");
  EXPECT_EQ(control_.epoch_ends[1].size(), 0u);
}

}  // namespace
}  // namespace brigade
