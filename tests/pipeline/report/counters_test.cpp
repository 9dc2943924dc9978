#include "pipeline/report/counters.h"

#include <gtest/gtest.h>

#include "tests/support/line.h"

namespace brigade {
namespace {

TEST(Counters, EachReplicaHasItsOwnPiece) {
  SharedShape shape = support::line_shape({{2, 1, 4, {}}, {1, 1, 0, {0}}});
  shape.replica_extra_bytes = kReplicaCounterBytes;
  support::LineMemory memory(control_bytes<SystemPolicy>(shape));
  const auto control = create_control<SystemPolicy>(memory.data(), shape);
  for (int r = 0; r < 3; ++r)
    count_up(live_counters(control, r).samples, static_cast<std::uint64_t>(r) + 10);
  for (int r = 0; r < 3; ++r) {
    EXPECT_EQ(live_counters(control, r).samples, static_cast<std::uint64_t>(r) + 10);
    EXPECT_EQ(live_counters(control, r).tasks, 0u);
  }
  const auto* last = reinterpret_cast<const std::byte*>(&live_counters(control, 2) + 1);
  EXPECT_LE(last, memory.data() + control.bytes);
}

}  // namespace
}  // namespace brigade
