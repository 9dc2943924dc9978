#include "transports/layout.h"
#include "transports/limits.h"
#include "transports/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/line.h"

namespace brigade {
namespace {

using support::LineMemory;
using testing::HasSubstr;
using Shared = Control<SystemPolicy>;

SharedShape shape_of_two() {
  SharedShape shape = support::line_shape({{2, 4, 16, {}}, {1, 8, 0, {0}, true}});
  shape.replica_extra_bytes = 128;
  return shape;
}

class AttachControl : public testing::Test {
 protected:
  AttachControl() { created_ = create_control<SystemPolicy>(memory_.data(), shape_); }

  std::string refusal(const SharedShape& shape, std::uint64_t bytes) {
    const auto attached = attach_control<SystemPolicy>(memory_.data(), bytes, shape);
    return attached ? "attached" : attached.error().message;
  }

  SharedShape shape_ = shape_of_two();
  std::uint64_t bytes_ = control_bytes<SystemPolicy>(shape_);
  LineMemory memory_{bytes_};
  Shared created_;
};

TEST_F(AttachControl, FindsEveryWordWhereTheCreatorPutItAndAsItIs) {
  created_.stages[0].queues[0].watermark->level.value = 12;
  created_.index_spaces[0]->end.value = 99;
  const Shared attached = attach_control<SystemPolicy>(memory_.data(), bytes_, shape_).value();
  EXPECT_EQ(attached.bytes, bytes_);
  EXPECT_EQ(attached.phase, created_.phase);
  EXPECT_EQ(attached.index_spaces[0], created_.index_spaces[0]);
  EXPECT_EQ(attached.doorbells, created_.doorbells);
  EXPECT_EQ(attached.replicas, created_.replicas);
  EXPECT_EQ(attached.extra, created_.extra);
  for (const StageNumber s : created_.stages.numbers()) {
    EXPECT_EQ(attached.stages[s].repairs, created_.stages[s].repairs);
    EXPECT_EQ(attached.stages[s].queues[0].watermark, created_.stages[s].queues[0].watermark);
    EXPECT_EQ(attached.stages[s].queues[0].tallies, created_.stages[s].queues[0].tallies);
    EXPECT_EQ(attached.stages[s].queues[0].table.lines(),
              created_.stages[s].queues[0].table.lines());
  }
  EXPECT_EQ(attached.stages[0].queues[0].watermark->level.value, 12u);
  EXPECT_EQ(attached.index_spaces[0]->end.value, 99u);
}

TEST_F(AttachControl, WakesSleepersInTheWayOfTheCreator) {
  for (const WakeOrder order : {WakeOrder::by_sleeper, WakeOrder::by_finisher}) {
    create_control<SystemPolicy>(memory_.data(), shape_, order);
    EXPECT_EQ(attach_control<SystemPolicy>(memory_.data(), bytes_, shape_)->wake_order, order);
  }
  reinterpret_cast<ControlHeader*>(memory_.data())->wake_order = 2;
  EXPECT_THAT(refusal(shape_, bytes_), HasSubstr("uses the wake-up order 2"));
}

TEST(WakeOrderOf, AGraphGoesByItsSmallestTaskInOrder) {
  if (!SystemPolicy::join_barriers()) GTEST_SKIP() << "this kernel has no membarrier";
  const auto chosen = [](std::uint64_t task, bool in_order) {
    SharedShape shape;
    shape.stages.resize(2);
    shape.stages[0].queues.resize(1);
    shape.stages[0].queues[0].task = 64;
    shape.stages[0].queues[0].in_order = true;
    shape.stages[1].queues.resize(2);
    shape.stages[1].queues[1].task = task;
    shape.stages[1].queues[1].in_order = in_order;
    return choose_wake_order<SystemPolicy>(shape);
  };
  EXPECT_EQ(chosen(1, true), WakeOrder::by_sleeper);
  EXPECT_EQ(chosen(kSmallTask, true), WakeOrder::by_sleeper);
  EXPECT_EQ(chosen(kSmallTask + 1, true), WakeOrder::by_finisher);
  EXPECT_EQ(chosen(1, false), WakeOrder::by_finisher);
}

TEST_F(AttachControl, RefusesAnotherLayoutWithBothValues) {
  SharedShape other = shape_;
  other.stages[0].queues[0].in_order = !other.stages[0].queues[0].in_order;
  const std::string message = refusal(other, bytes_);
  EXPECT_THAT(message, HasSubstr("belongs to another version of Brigade"));
  const auto hex = [](std::uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(value));
    return std::string(text);
  };
  EXPECT_THAT(message, HasSubstr(hex(shape_.hash())));
  EXPECT_THAT(message, HasSubstr(hex(other.hash())));
}

TEST_F(AttachControl, RefusesMemoryWithoutTheMagicBytes) {
  memory_.data()[0] = std::byte{'X'};
  EXPECT_THAT(refusal(shape_, bytes_), HasSubstr("not a Brigade control segment"));
}

TEST_F(AttachControl, RefusesAFileOfAnotherSize) {
  EXPECT_THAT(refusal(shape_, bytes_ - 64), HasSubstr("declares " + std::to_string(bytes_)));
  EXPECT_THAT(refusal(shape_, 8), HasSubstr("less than its header"));
}

TEST_F(AttachControl, StartsWithUnknownEndsAndNobodyAtWork) {
  EXPECT_EQ(created_.index_spaces[0]->end.value, kNever);
  EXPECT_EQ(created_.index_spaces[0]->stop.value, static_cast<std::uint64_t>(Stop::none));
  EXPECT_EQ(created_.phase->value, static_cast<std::uint64_t>(Phase::starting));
  for (int r = 0; r < shape_.replicas; ++r) EXPECT_EQ(created_.replicas[r].in_flight.value, kNever);
  for (const auto& stage : created_.stages) EXPECT_EQ(stage.queues[0].watermark->level.value, 0u);
}

TEST_F(AttachControl, WordsOfDifferentWritersNeverShareALine) {
  std::set<std::uintptr_t> lines;
  const auto own = [&](const void* word) {
    EXPECT_TRUE(lines.insert(reinterpret_cast<std::uintptr_t>(word) / kCacheLineBytes).second);
  };
  own(memory_.data());
  own(created_.phase);
  for (Line<SystemPolicy>* word : {&created_.index_spaces[0]->end, &created_.index_spaces[0]->stop,
                                   &created_.index_spaces[0]->epoch_samples}) {
    own(word);
  }
  for (auto& stage : created_.stages) {
    own(stage.repairs);
    own(stage.fingerprint);
    own(stage.source_samples);
    own(&stage.queues[0].watermark->level);
    own(&stage.queues[0].watermark->waiters);
    for (std::uint64_t t = 0; t < stage.queues[0].table.window(); ++t) {
      own(&stage.queues[0].table.word(t));
    }
    own(&stage.queues[0].tallies[0].entries[0]);
    own(&stage.queues[0].tallies[0].entries[1]);
  }
  for (int r = 0; r < shape_.replicas; ++r) {
    own(&created_.doorbells[r]);
    own(&created_.replicas[r].in_flight);
    own(&created_.replicas[r].ack);
    own(created_.extra + static_cast<std::uint64_t>(r) * shape_.replica_extra_bytes);
  }
}

TEST(LayoutHash, ChangesWithEverythingThatMovesAWord) {
  const SharedShape base = shape_of_two();
  std::set<std::uint64_t> hashes = {base.hash()};
  const auto differs = [&](auto change) {
    SharedShape shape = base;
    change(shape);
    EXPECT_TRUE(hashes.insert(shape.hash()).second);
  };
  differs([](SharedShape& s) { s.stages[0].queues[0].task = 2; });
  differs([](SharedShape& s) { s.stages[0].queues[0].window = 2; });
  differs([](SharedShape& s) { s.stages[0].queues[0].fixed = true; });
  differs([](SharedShape& s) { s.stages[0].queues.push_back({}); });
  differs([](SharedShape& s) { s.stages[1].queues[0].inputs = {}; });
  differs([](SharedShape& s) { s.stages[1].queues[0].index_space = 1; });
  differs([](SharedShape& s) { s.stages[0].slots = 32; });
  differs([](SharedShape& s) { s.stages[0].fan_out = 2; });
  differs([](SharedShape& s) { s.derived = {{1, 0, 2}}; });
  differs([](SharedShape& s) { s.derived = {{1, 0, 3}}; });
  differs([](SharedShape& s) { s.stages[0].replicas = 3; });
  differs([](SharedShape& s) { s.stages[0].skips_max = 1; });
  differs([](SharedShape& s) { s.stages[0].quarantine_max = 1; });
  differs([](SharedShape& s) { s.stages[0].source = false; });
  differs([](SharedShape& s) { s.stages.pop_back(); });
  differs([](SharedShape& s) { s.index_spaces = 2; });
  differs([](SharedShape& s) { s.epoch_ends = {1}; });
  differs([](SharedShape& s) { s.epoch_ends = {2}; });
  differs([](SharedShape& s) { s.stages[0].journal_ports = 1; });
  differs([](SharedShape& s) { s.replicas = 4; });
  differs([](SharedShape& s) { s.replica_extra_bytes = 64; });
}

// The plan of a foreign segment may say anything: its size must not wrap around to a small one.
TEST(ControlBytes, OfAShapeThatNoMemoryHoldsAreMoreThanAnySegmentHas) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 61;
  const auto grown = [](void (*grow)(SharedShape&)) {
    SharedShape shape = shape_of_two();
    grow(shape);
    return control_bytes<SystemPolicy>(shape);
  };
  EXPECT_GT(grown([](SharedShape& s) { s.stages[0].skips_max = kHuge; }), kHuge);
  EXPECT_GT(grown([](SharedShape& s) { s.stages[0].queues[0].window = kHuge; }), kHuge);
}

}  // namespace
}  // namespace brigade
