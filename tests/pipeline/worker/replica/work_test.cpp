#include "pipeline/worker/replica/work.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "tests/support/number_line.h"

namespace {
thread_local std::uint64_t allocations = 0;
}  // namespace

// Counts for this thread; memory comes from malloc, so that sanitizers still see it. Not inlined:
// GCC would pair a visible free() with a new that it does not see.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace brigade {
namespace {

class Settle : public testing::Test {
 protected:
  Settle() : run_(support::number_graph({})) {}

  std::string settle(const Result<Next>& answer, const std::string& stage) {
    const ReplicaContext context = run_.context(stage);
    ErrorPolicy errors(context);
    const SampleInfo sample{5, 5, 5, 0};
    const Result<void> settled = settle_call(answer, context, 0, {&sample, 1}, errors);
    return settled.ok() ? "" : settled.error().message;
  }

  support::RunLine run_;
};

TEST_F(Settle, DropNeedsTheContractsWord) {
  EXPECT_EQ(settle(Next::drop, "mix"),
            "sample 5 (id 5 of epoch 0): it returned Next::drop, but the contract of \"mix_type\" "
            "does not declare may_drop()");
  support::NumberLine line;
  line.drops = true;
  GraphBuilder dropping = support::number_graph(line);
  support::RunLine run(dropping);
  const ReplicaContext context = run.context("mix");
  ErrorPolicy errors(context);
  const SampleInfo sample{5, 5, 5, 0};
  EXPECT_TRUE(settle_call(Next::drop, context, 0, {&sample, 1}, errors).ok());
}

TEST_F(Settle, OnlyStreamsWaitOrEnd) {
  EXPECT_EQ(
      settle(Next::wait, "sink"),
      "sample 5 (id 5 of epoch 0): it returned Next::wait, which is reserved for stream producers");
  EXPECT_NE(settle(Next::end, "sink").find("Next::end"), std::string::npos);
}

/// What a stage's thread has allocated since its first call; the first call itself is not counted.
struct Watch {
  std::uint64_t start = 0;
  bool started = false;
  std::uint64_t since_start() {
    if (!started) start = allocations;
    started = true;
    return allocations - start;
  }
};

/// Runs a line and returns what all its threads allocated between their first and last calls.
std::uint64_t allocations_of(support::NumberLine line) {
  line.samples = 1000;
  line.epochs = 3;
  support::LoggedLine run(line);
  std::atomic<std::uint64_t> most{0};
  const auto note = [&most](Watch& watch) {
    const std::uint64_t now = watch.since_start();
    for (std::uint64_t old = most; now > old && !most.compare_exchange_weak(old, now);) continue;
  };
  run.producers["numbers"] = [&](int) {
    return std::make_unique<support::LambdaProducer>(
        line.samples,
        [&note, watch = Watch()](std::uint64_t index, Outputs& out) mutable -> Result<Next> {
          note(watch);
          out["value"].as<std::int64_t>()[0] = static_cast<std::int64_t>(index);
          return Next::emit;
        });
  };
  for (const std::string name : {"filter", "mix"}) {
    run.stages[name] = [&, name, make = run.stages[name]](int replica) {
      std::shared_ptr<Stage> inner = make(replica);
      return std::make_unique<support::LambdaStage>(
          [&note, inner, watch = Watch()](const Inputs& in, Outputs& out) mutable {
            note(watch);
            return inner->process(in, out);
          });
    };
  }
  run.stages["sink"] = [&](int) {
    return std::make_unique<support::LambdaStage>(
        [&note, watch = Watch()](const Inputs&, Outputs&) mutable -> Result<Next> {
          note(watch);
          return Next::emit;
        });
  };
  const Result<void> ran = run.run();
  EXPECT_TRUE(ran.ok()) << ran.error().message;
  return most;
}

TEST(Work, AllocatesNothingOnTheDataPath) {
  for (const std::uint64_t batch : {0, 7, 64}) {
    for (const bool drops : {false, true}) {
      for (const bool batched_mix : {false, true}) {
        if (batched_mix && batch == 0) continue;
        support::NumberLine line;
        line.batch = batch;
        line.drops = drops;
        line.batched_mix = batched_mix;
        line.mixers = 2;
        EXPECT_EQ(allocations_of(line), 0u) << line.text();
      }
    }
  }
}

TEST(Work, TheCountSeesAllocations) {
  const std::uint64_t before = allocations;
  const auto text = std::make_unique<std::string>(100, 'x');
  EXPECT_EQ(allocations - before, 2u);
}

}  // namespace
}  // namespace brigade
