// What an edge costs between processes: hand-offs of single samples and of chunks, of a large batch
// that is already written, and the wake-up of a sleeping reader beside a bare futex.

#include <benchmark/benchmark.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "tests/support/line.h"
#include "transports/stop.h"
#include "transports/wait.h"

namespace brigade {
namespace {

using support::StageSpec;
using P = SystemPolicy;
using Clock = std::chrono::steady_clock;

constexpr int kBusySpins = 20'000;  // nobody sleeps in between

std::int64_t now_ns() { return Clock::now().time_since_epoch().count(); }

/// Keeps this process on one core, if there are several.
void pin(int core) {
  const int cores = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core % cores, &set);
  sched_setaffinity(0, sizeof set, &set);
}

double best(const std::vector<double>& runs) { return *std::max_element(runs.begin(), runs.end()); }
double least(const std::vector<double>& runs) {
  return *std::min_element(runs.begin(), runs.end());
}
double median(std::vector<double> runs) {
  std::sort(runs.begin(), runs.end());
  return runs[runs.size() / 2];
}

/// Memory that forked processes share.
class SharedPages {
 public:
  explicit SharedPages(std::uint64_t bytes) : bytes_(bytes) {
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE,
                 -1, 0);
    BRIGADE_CHECK(data_ != MAP_FAILED, bytes);
  }
  ~SharedPages() { munmap(data_, bytes_); }
  SharedPages(const SharedPages&) = delete;
  std::byte* data() { return static_cast<std::byte*>(data_); }

 private:
  void* data_;
  std::uint64_t bytes_;
};

/// A line of processes that start together.
class ForkedLine {
 public:
  ForkedLine(const ByStage<StageSpec>& specs, std::uint64_t slot_bytes, std::uint64_t samples)
      : shape_(support::line_shape(specs)), pages_(control_bytes<P>(shape_)), flags_(4096) {
    control_ = create_control<P>(pages_.data(), shape_, choose_wake_order<P>(shape_));
    set_end(control_, 0, samples, samples, 1);
    for (const StageShape& stage : shape_.stages) {
      const std::uint64_t slots = std::max<std::uint64_t>(stage.slots, 1);
      rings_memory_.push_back(
          std::make_unique<SharedPages>(slots * (sizeof(SlotHeader) + slot_bytes)));
      rings_.push_back(SlotRing(rings_memory_.back()->data(), slots,
                                {{slots * sizeof(SlotHeader), slot_bytes}}));
    }
  }

  Control<P>& control() { return control_; }
  const SlotRing& ring(StageNumber stage) const { return rings_[stage]; }
  /// A word for the benchmark's own use.
  std::atomic<std::int64_t>& note(int i) {
    return reinterpret_cast<std::atomic<std::int64_t>*>(flags_.data())[8 * (i + 1)];
  }

  /// Calls `work(first sample of a task)` until the stage has ended.
  template <class Work>
  void loop(StageNumber stage, int replica, int spins, const Work& work) {
    const int global = shape_.stages[stage].first_replica + replica;
    Channel<P> channel(control_, stage, 0, replica);
    for (;;) {
      const auto claim =
          claim_or_wait<P>(control_, global, spins, [&] { return channel.try_claim(); });
      if (claim.look != Look::claimed) return;
      work(claim.task * channel.task_size());
      channel.finish(claim.task);
    }
  }

  /// One process per body, on the cores in turn; returns seconds from the start of all to the end.
  double run(const std::vector<std::function<void()>>& bodies) {
    auto& ready = note(-1);
    ready = 0;
    std::vector<pid_t> children;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      children.push_back(fork());
      if (children.back() != 0) continue;
      pin(static_cast<int>(i));
      P::join_barriers();
      ++ready;
      while (ready.load() >= 0) sched_yield();
      bodies[i]();
      _exit(0);
    }
    while (ready.load() < static_cast<std::int64_t>(bodies.size())) sched_yield();
    const std::int64_t start = now_ns();
    ready = -1;
    for (pid_t child : children) waitpid(child, nullptr, 0);
    return static_cast<double>(now_ns() - start) / 1e9;
  }

 private:
  SharedShape shape_;
  SharedPages pages_;
  SharedPages flags_;
  Control<P> control_;
  std::vector<std::unique_ptr<SharedPages>> rings_memory_;
  ByStage<SlotRing> rings_;
};

/// Repeats a run and reports items per second.
void report_rate(benchmark::State& state, double items, const std::function<double()>& seconds) {
  for (auto _ : state) state.SetIterationTime(seconds());
  state.counters["per_second"] = benchmark::Counter(items * static_cast<double>(state.iterations()),
                                                    benchmark::Counter::kIsRate);
}

void one_sample_tasks_1_to_1(benchmark::State& state) {
  constexpr std::uint64_t samples = 4'000'000;
  const bool in_order = state.range(0) != 0;
  report_rate(state, samples, [&] {
    ForkedLine line({{1, 1, 512, {}, in_order}, {1, 1, 0, {0}, in_order}}, 8, samples);
    const auto write = [&](std::uint64_t s) { line.ring(0).headers(s)->number = s; };
    std::uint64_t wrong = 0;
    const auto read = [&](std::uint64_t s) { wrong += line.ring(0).headers(s)->number != s; };
    const double seconds = line.run({[&] { line.loop(0, 0, kBusySpins, write); },
                                     [&] {
                                       line.loop(1, 0, kBusySpins, read);
                                       line.note(0) = static_cast<std::int64_t>(wrong);
                                     }});
    BRIGADE_CHECK(line.note(0) == 0, line.note(0).load());
    return seconds;
  });
}

/// 784-byte slots through two transforms in chunks of 64, as Fashion-MNIST travels.
void chunks_of_64_slots_1_to_2_to_1(benchmark::State& state) {
  constexpr std::uint64_t samples = 2'000'000 / 256 * 256;
  constexpr std::uint64_t bytes = 784;
  report_rate(state, samples, [&] {
    ForkedLine line({{1, 64, 512, {}, true}, {2, 64, 768, {0}}, {1, 256, 0, {1}, true}}, bytes,
                    samples);
    const auto write = [&](std::uint64_t s) {
      for (std::uint64_t i = 0; i < 64; ++i) {
        line.ring(0).headers(s + i)->number = s + i;
        std::memset(line.ring(0).slot(0, s + i), static_cast<int>(s), bytes);
      }
    };
    const auto copy = [&](std::uint64_t s) {
      std::memcpy(line.ring(1).headers(s), line.ring(0).headers(s), 64 * sizeof(SlotHeader));
      std::memcpy(line.ring(1).slot(0, s), line.ring(0).slot(0, s), 64 * bytes);
    };
    const auto read = [&](std::uint64_t s) {
      const auto* words = reinterpret_cast<const std::uint64_t*>(line.ring(1).slot(0, s));
      std::uint64_t sum = 0;
      for (std::uint64_t i = 0; i < 256 * bytes / 8; ++i) sum += words[i];
      benchmark::DoNotOptimize(sum);
    };
    return line.run({[&] { line.loop(0, 0, 0, write); }, [&] { line.loop(1, 0, 0, copy); },
                     [&] { line.loop(2, 0, 0, read); }, [&] { line.loop(1, 1, 0, copy); }});
  });
}

/// From finish() of a batch that is already written to its claim, the reader looking all the time.
void hand_off_of_a_written_batch(benchmark::State& state) {
  constexpr std::uint64_t batches = 2'000;
  const auto bytes = static_cast<std::uint64_t>(state.range(0));
  std::vector<double> medians;
  for (auto _ : state) {
    ForkedLine line({{1, 1, 2, {}, true}, {1, 1, 0, {0}, true}}, bytes, batches);
    std::vector<double> taken;
    auto& sent = line.note(0);
    const auto write = [&](std::uint64_t) {
      for (const std::int64_t until = now_ns() + 5'000; now_ns() < until;) P::relax();
      sent = now_ns();
    };
    const auto read = [&](std::uint64_t s) {
      taken.push_back(static_cast<double>(now_ns() - sent.load()));
      benchmark::DoNotOptimize(*line.ring(0).slot(0, s));
    };
    line.run({[&] { line.loop(0, 0, kBusySpins, write); },
              [&] {
                line.loop(1, 0, 1 << 30, read);
                line.note(1) = static_cast<std::int64_t>(median(taken));
              }});
    medians.push_back(static_cast<double>(line.note(1).load()));
    state.SetIterationTime(medians.back() / 1e9);
  }
}

struct WakeUps {
  double protocol_ns;
  double futex_ns;
};

/// A reader asleep on another core is handed one sample, and in turn is woken by a bare futex.
WakeUps wake_ups(std::uint64_t rounds) {
  ForkedLine line({{1, 1, 2, {}, true}, {1, 1, 0, {0}, true}}, 8, rounds);
  auto& sent = line.note(0);
  SharedPages page(4096);
  auto& word = *reinterpret_cast<std::atomic<std::uint32_t>*>(page.data());
  const auto doze = [] { usleep(300); };  // until the other one sleeps
  const auto write = [&](std::uint64_t s) {
    doze();
    sent = now_ns();
    word = static_cast<std::uint32_t>(s + 1);
    P::wake(word);
    doze();
    sent = now_ns();
  };
  std::vector<double> protocol, futex;
  const auto read = [&](std::uint64_t) {
    protocol.push_back(static_cast<double>(now_ns() - sent));
  };
  line.run({[&] { line.loop(0, 0, 0, write); },
            [&] {
              Channel<P> channel(line.control(), 1, 0, 0);
              for (std::uint64_t s = 0; s < rounds; ++s) {
                while (word.load() == s) P::sleep(word, static_cast<std::uint32_t>(s));
                futex.push_back(static_cast<double>(now_ns() - sent));
                const auto claim =
                    claim_or_wait<P>(line.control(), 1, 0, [&] { return channel.try_claim(); });
                read(s);
                channel.finish(claim.task);
              }
              line.note(1) = static_cast<std::int64_t>(median(protocol));
              line.note(2) = static_cast<std::int64_t>(median(futex));
            }});
  return {static_cast<double>(line.note(1).load()), static_cast<double>(line.note(2).load())};
}

void wake_up_of_a_sleeping_reader(benchmark::State& state) {
  WakeUps found{};
  for (auto _ : state) {
    found = wake_ups(500);
    state.SetIterationTime(found.protocol_ns / 1e9);
  }
  state.counters["bare_futex_ns"] = found.futex_ns;
  state.counters["ratio"] = found.protocol_ns / found.futex_ns;
}

void several_runs(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Iterations(1)->Repetitions(9)->ReportAggregatesOnly(true);
  bench->ComputeStatistics("best", best)->ComputeStatistics("least", least);
}

BENCHMARK(one_sample_tasks_1_to_1)->ArgName("in_order")->Arg(1)->Arg(0)->Apply(several_runs);
BENCHMARK(chunks_of_64_slots_1_to_2_to_1)->Apply(several_runs);
BENCHMARK(hand_off_of_a_written_batch)
    ->ArgName("bytes")
    ->Arg(1024)
    ->Arg(256 * 224 * 224 * 3)
    ->Apply(several_runs);
BENCHMARK(wake_up_of_a_sleeping_reader)->Apply(several_runs);

}  // namespace
}  // namespace brigade
