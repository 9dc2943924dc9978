// next() and letting go of a batch that is ready, for small and for large batches in turns. Prints
// JSON: the nanoseconds of each, the median of a run's batches, run by run.
//
//   program_bench [RUNS]
//
// What is measured is the ring's last round: its memory is mapped, as it is after a moment of any
// loop. The clock starts when all batches are written and the worker that wrote them has ended:
// nothing waits, nobody is woken, and no other core is at work.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <brigade/pipeline.h>
#include <brigade/text.h>
#include "base/clock.h"
#include "pipeline/run/attach.h"

namespace brigade {
namespace {

constexpr int kBatches = 12;  // in the ring
constexpr int kRounds = 3;

struct Size {
  const char* name;
  int samples;            // of a batch
  const char* shape;      // of a sample, bytes
  const char* keys = "";  // of the source
};
constexpr Size kSizes[] = {
    {"1_KB_16_samples", 16, "[64]"},
    {"38.5_MB_16_samples", 16, "[896, 896, 3]"},
    {"1_KB_256_samples", 256, "[4]"},
    {"38.5_MB_256_samples", 256, "[224, 224, 3]"},
    {"38.5_MB_256_samples_some_may_be_skipped", 256, "[224, 224, 3]", ", on_error: {skip: 1}"},
};

std::string graph(const Size& size) {
  return concat("stages:\n  numbers: {producer: synthetic, batch: ", size.samples,
                ", buffers: ", kBatches, ", params: {count: ", kRounds * kBatches * size.samples,
                ", dtype: u8, shape: ", size.shape, "}", size.keys,
                "}\n  train: {consumer: application, from: numbers}\n");
}

Result<std::int64_t> measure(const App& app, const Size& size) {
  Pipeline pipeline = Pipeline::from_text(graph(size));
  auto run = pipeline.quiet().start(app);
  if (!run) return run.error();
  Output output = (*run)->output("train");
  for (int i = 0; i < (kRounds - 1) * kBatches; ++i) BRIGADE_TRY(output.next());
  while (!find_workers(getpid()).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::vector<std::int64_t> times;
  for (;;) {
    const std::int64_t started = monotonic_ns();
    auto batch = output.next();
    if (!batch) return batch.error();
    if (!*batch) break;
    batch->reset();
    times.push_back(monotonic_ns() - started);
  }
  BRIGADE_TRY((*run)->wait());
  if (times.size() != kBatches) return Error{concat(times.size(), " batches")};
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

int run(const App& app, int runs) {
  std::map<std::string, std::string> found;
  for (int i = 0; i < runs; ++i) {
    for (const Size& size : kSizes) {
      auto time = measure(app, size);
      if (!time) return std::fprintf(stderr, "%s\n", time.error().message.c_str()), 1;
      found[size.name] += concat(i > 0 ? ", " : "", *time);
    }
  }
  std::string text;
  for (const Size& size : kSizes)
    text += concat(text.empty() ? "{" : ", ", quote(size.name), ": [", found[size.name], "]");
  std::printf("%s}\n", text.c_str());
  return 0;
}

}  // namespace
}  // namespace brigade

int main(int argc, char** argv) {
  const brigade::App app(argc, argv);
  return brigade::run(app, argc > 1 ? std::atoi(argv[1]) : 9);
}
