// Two graphs in one program: a step takes a batch that has labels from one, and two that have none
// from the other, as semi-supervised training does. The first one's epochs say how long; the second
// goes round as often as it is needed, and is given up then.
//
//   two_graphs two_graphs.yaml

#include <iostream>

#include <brigade/pipeline.h>

namespace {

using namespace brigade;  // an example is all about it

constexpr int kUnlabelledPerStep = 2;

// Null where the graph has mistakes; they have been said.
std::unique_ptr<Run> start(const char* path, const App& app) {
  auto graph = Pipeline::from_file(path);
  auto run = graph ? graph->quiet().start(app) : Result<std::unique_ptr<Run>>(graph.error());
  if (!run) std::cerr << run.error().message << '\n';
  return run ? std::move(*run) : nullptr;
}

bool ended_well(Run& run) {
  const auto ended = run.wait();
  if (!ended) std::cerr << ended.error().message << '\n';
  return ended.ok();
}

// A real model learns here.
struct Model {
  void step(const Batch& labelled) {
    with_labels += labelled.size();
    ++steps;
  }
  void step_without_labels(const Batch& batch) { without_labels += batch.size(); }

  std::int64_t steps = 0, with_labels = 0, without_labels = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const App app(argc, argv);  // first: workers of both graphs are this program, and stay in here
  const auto labelled = start(argc > 1 ? argv[1] : "two_graphs.yaml", app);
  const auto unlabelled = start(argc > 2 ? argv[2] : "unlabelled.yaml", app);
  if (!labelled || !unlabelled) return 2;

  Model model;
  {
    Output more = unlabelled->output("train");
    for (const Batch& batch : labelled->output("train")) {
      model.step(batch);
      for (int i = 0; i < kUnlabelledPerStep; ++i) {
        auto next = more.next();
        if (!next) std::cerr << next.error().message << '\n';
        if (!next || !*next) return 1;
        model.step_without_labels(**next);
      }
    }
  }  // the last handle on the output closes it: its graph ends, too
  if (!ended_well(*labelled) || !ended_well(*unlabelled)) return 1;
  std::cout << model.steps << " steps: " << model.with_labels << " samples with labels, "
            << model.without_labels << " without\n";
  return 0;
}
