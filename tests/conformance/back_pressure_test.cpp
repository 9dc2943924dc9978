// A slow reader behind a fast source: the source waits, and memory stays what it was.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "pipeline/report/counters.h"
#include "pipeline/run/attach.h"
#include "tests/conformance/line_run.h"
#include "tests/support/session.h"

namespace brigade::conformance {
namespace {

/// Of this process and its children, in KiB: pages of shared memory files (each process's share),
/// and pages of their own.
struct Memory {
  std::uint64_t shared_kib = 0;
  std::uint64_t own_kib = 0;
};

void add(const std::string& pid, Memory& memory) {
  std::ifstream smaps("/proc/" + pid + "/smaps");
  bool shared = false;
  for (std::string line; std::getline(smaps, line);) {
    std::istringstream words(line);
    std::string word;
    std::uint64_t kib = 0;
    words >> word;
    if (!word.empty() && word.back() != ':') shared = line.find("/memfd:") != line.npos;
    words >> kib;
    if (word == "Pss:" && shared) memory.shared_kib += kib;
    if (word == "Private_Dirty:" && !shared) memory.own_kib += kib;
  }
}

Memory memory_of_all() {
  Memory memory;
  add("self", memory);
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream stat(entry.path() / "stat");
    std::string text;
    if (!std::getline(stat, text) || text.find(") ") == text.npos) continue;
    std::istringstream words(text.substr(text.rfind(") ") + 2));
    std::string state;
    pid_t parent = 0;
    words >> state >> parent;
    if (parent == getpid()) add(entry.path().filename(), memory);
  }
  return memory;
}

constexpr std::uint64_t kSampleKib = 64;
constexpr std::uint64_t kSlackKib = 2048;  // of the C library, the reports; slots are far more

/// How many samples the source of the graph that runs here has made.
std::uint64_t made_by_the_source() {
  for (const RunningGraph& graph : find_graphs().running) {
    if (graph.pid != getpid()) continue;
    const auto segments = look_into(graph);
    if (segments.ok()) return live_counters((*segments)->control(), 0).samples.load();
  }
  return 0;
}

void wait_until_made(std::uint64_t samples) {
  while (made_by_the_source() < samples) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

std::string slow_line(const std::string& consumers) {
  return "epochs: 1000000\nstages:\n"
         "  numbers: {producer: synthetic, params: {count: 100000, shape: [65536], dtype: u8}}\n"
         "  work: {transform: passthrough, from: numbers, replicas: 2}\n" +
         consumers;
}

class BackPressure : public testing::TestWithParam<bool> {};

TEST_P(BackPressure, KeepsMemoryFlat) {
  Session session;
  session.options.in_process = GetParam();
  const auto run = session.start(
      slow_line("  slow: {consumer: count, from: {stage: work, batch: 8}, params: {sleep_ms: 2}}\n"
                "  fast: {consumer: count, from: {stage: work, batch: 4}}\n"));
  const std::uint64_t planned_kib = run->plan().memory_bytes >> 10;
  wait_until_made(2 * planned_kib / kSampleKib);
  const Memory before = memory_of_all();
  wait_until_made(4 * planned_kib / kSampleKib);
  const Memory after = memory_of_all();
  run->stop(SIGINT);
  const RunOutcome& outcome = run->wait();
  EXPECT_TRUE(outcome.ended_by_itself());
  EXPECT_EQ(outcome.failure, "");

  EXPECT_GT(before.shared_kib, 0u);
  EXPECT_LE(after.shared_kib, before.shared_kib + kSlackKib);
  EXPECT_LE(after.shared_kib, planned_kib + kSlackKib);
#if !defined(__SANITIZE_ADDRESS__)  // which keeps what has been freed
  EXPECT_LE(after.own_kib, before.own_kib + kSlackKib);
#endif
  EXPECT_GT(outcome.summary.figures.stages[0].wait_out_ns, 0u) << "the source waits for slots";
}

INSTANTIATE_TEST_SUITE_P(Lines, BackPressure, testing::Bool(), [](const auto& one) {
  return std::string(one.param ? "Threads" : "Processes");
});

TEST(BackPressureMeter, SeesMemoryThatGrows) {
  constexpr std::size_t kBytes = 16 << 20;
  const Memory before = memory_of_all();
  const int file = memfd_create("grows", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, kBytes), 0);
  void* const shared = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  void* const own =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  ASSERT_NE(own, MAP_FAILED);
  std::memset(shared, 1, kBytes);
  std::memset(own, 1, kBytes);
  const Memory after = memory_of_all();
  EXPECT_GT(after.shared_kib, before.shared_kib + kSlackKib);
  EXPECT_GT(after.own_kib, before.own_kib + kSlackKib);
  munmap(shared, kBytes);
  munmap(own, kBytes);
  close(file);
}

TEST_P(BackPressure, ASlowReaderBesideAFastOneOnlySlows) {
  LineRun line;
  ASSERT_EQ(line.prepare(R"(
stages:
  numbers: {producer: synthetic, params: {count: 4000}, shuffle: true}
  work: {transform: digest, from: numbers, replicas: 2}
  slow: {consumer: record, from: {stage: work, batch: 16},
         params: {folder: "${RECORDS}", sleep_us: 4000}}
  fast: {consumer: record, from: {stage: work, batch: 64}, params: {folder: "${RECORDS}"}}
)"),
            "");
  line.run(GetParam());
  EXPECT_EQ(line.difference_to(PlainLoop(line.graph(), line.plan())), "");
  const RunSummary& summary = line.outcome().summary;
  EXPECT_GE(summary.seconds, 4000 / 16 * 4e-3 * 0.9);  // the last calls may be still going on
  const StageFigures& slow = summary.figures.stages[2];
  const StageFigures& fast = summary.figures.stages[3];
  EXPECT_GT(fast.wait_in_ns, slow.wait_in_ns);
  EXPECT_GT(slow.busy_ns, fast.busy_ns);
}

}  // namespace
}  // namespace brigade::conformance
