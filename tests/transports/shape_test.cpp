#include "transports/shape.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/support/line.h"

namespace brigade {
namespace {

TEST(GraphShape, EveryFieldFromWhichPlacesFollowIsInTheHash) {
  const std::vector<std::function<void(GraphShape&)>> changes = {
      [](GraphShape&) {},
      [](GraphShape& shape) { shape.domains = 2; },
      [](GraphShape& shape) {
        shape.derived.push_back({1, 0, 2});
      },
      [](GraphShape& shape) { shape.epoch_ends = {1}; },
      [](GraphShape& shape) { shape.epoch_ends = {2}; },
      [](GraphShape& shape) { shape.replica_extra_bytes = 64; },
      [](GraphShape& shape) { shape.stages[0].rows = 16; },
      [](GraphShape& shape) { shape.stages[0].fan_out = 2; },
      [](GraphShape& shape) { shape.stages[0].skips_max = 9; },
      [](GraphShape& shape) { shape.stages[0].quarantine_max = 9; },
      [](GraphShape& shape) { shape.stages[0].journal_ports = 1; },
      [](GraphShape& shape) { shape.stages[0].source = false; },
      [](GraphShape& shape) { shape.stages[0].lanes[0].window = 9; },
      [](GraphShape& shape) { shape.stages[1].lanes[0].inputs.push_back(0); },
  };
  std::set<std::uint64_t> hashes;
  for (const auto& change : changes) {
    GraphShape shape = support::line_shape({{1, 1, 8, {}, true}, {1, 1, 0, {0}, true}});
    change(shape);
    hashes.insert(shape.hash());
  }
  EXPECT_EQ(hashes.size(), changes.size());
}

}  // namespace
}  // namespace brigade
