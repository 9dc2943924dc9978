// Tasks in, results out: how many steps each number takes to come to 1 (n/2, or 3n + 1). The
// program gives numbers to the graph of feed_and_collect.yaml in one thread and takes the answers
// in another; the work between is done by two processes.
//
//   feed_and_collect feed_and_collect.yaml

#include <algorithm>
#include <iostream>
#include <thread>

#include <brigade/pipeline.h>

namespace {

using namespace brigade;  // an example is all about it

constexpr std::int64_t kNumbers = 10'000;

struct CollatzParams {};

Contract<CollatzParams> collatz_contract() {
  return Contract<CollatzParams>("collatz", "Counts the steps to 1.")
      .transform()
      .input("start", {DType::i64}, {}, "a number, at least 1")
      .outputs([](const CollatzParams&, const Ports& in) -> Result<Ports> {
        return Ports{*in.find("start"), TensorType{"steps", DType::i64, {}}};
      });
}

class Collatz : public Stage {
 public:
  Result<Next> process(const Inputs& in, Outputs& out) override {
    const std::int64_t start = in["start"].as<std::int64_t>()[0];
    std::int64_t steps = 0;
    for (std::int64_t n = start; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    out["start"].as<std::int64_t>()[0] = start;
    out["steps"].as<std::int64_t>()[0] = steps;
    return Next::emit;
  }
};

// The slots are the graph's own memory; acquire() waits where it has no room.
void feed(Input tasks) {
  for (std::int64_t n = 1; n <= kNumbers; ++n) {
    auto slot = tasks.acquire();
    if (!slot || !*slot) return;  // the run has ended: wait() says why
    (**slot)["start"].as<std::int64_t>()[0] = n;
    if (!(*slot)->submit()) return;
  }
}  // with its last handle the input is closed

}  // namespace

int main(int argc, char** argv) {
  StageTypes types;
  types.add<Collatz>(collatz_contract());
  const App app(argc, argv, types);  // first: workers are this program, too, and stay in here
  auto graph = Pipeline::from_file(argc > 1 ? argv[1] : "feed_and_collect.yaml");
  auto run = graph ? graph->quiet().start(app) : Result<std::unique_ptr<Run>>(graph.error());
  if (!run) {
    std::cerr << run.error().message << '\n';
    return 2;
  }
  std::thread feeder(feed, (*run)->input("tasks"));
  std::int64_t answers = 0;
  std::int64_t longest = 0;
  std::int64_t most = 0;
  for (const Batch& batch : (*run)->output("results")) {
    const auto starts = batch["start"].as<std::int64_t>();
    const auto steps = batch["steps"].as<std::int64_t>();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i] > most) longest = starts[i];
      most = std::max(most, steps[i]);
      ++answers;
    }
  }
  feeder.join();
  const auto ended = (*run)->wait();  // the loop ends on failure, too
  if (!ended) {
    std::cerr << ended.error().message << '\n';
    return 1;
  }
  std::cout << answers << " answers: " << longest << " takes the most steps, " << most << '\n';
  return 0;
}
