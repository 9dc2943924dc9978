// ResNet-18 on a folder of pictures, from a program: the graph trains, evaluates and keeps its
// checkpoint; the program says what runs, and has what came of it.
//
//   image_classifier [--resume | --overwrite] [GRAPH...] [--set KEY=VALUE]...

#include <iostream>
#include <string_view>
#include <vector>

#include <brigade/pipeline.h>

namespace {

using namespace brigade;  // an example is all about it

struct Arguments {
  std::vector<std::string> graphs;
  std::vector<std::string> sets;
  bool resume = false;
  bool overwrite = false;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments read;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--resume") {
      read.resume = true;
    } else if (word == "--overwrite") {
      read.overwrite = true;
    } else if (word == "--set" && i + 1 < argc) {
      read.sets.emplace_back(argv[++i]);
    } else {
      read.graphs.emplace_back(word);
    }
  }
  if (read.graphs.empty()) read.graphs.emplace_back("image_classifier.yaml");
  return read;
}

Result<std::unique_ptr<Run>> start(const App& app, const Arguments& arguments) {
  const auto& graphs = arguments.graphs;
  auto graph = Pipeline::from_file(graphs.front(), {graphs.begin() + 1, graphs.end()});
  if (!graph) return graph.error();
  for (const std::string& set : arguments.sets) graph->set(set);
  return graph->resume(arguments.resume).overwrite(arguments.overwrite).start(app);
}

}  // namespace

int main(int argc, char** argv) {
  const App app(argc, argv);  // first: a worker that is started from this program stays in here
  const auto run = start(app, read_arguments(argc, argv));
  if (!run) {
    std::cerr << run.error().message << '\n';
    return 2;
  }
  const auto summary = (*run)->summary_json();  // waits; a failure is part of it
  if (summary) std::cout << *summary << '\n';
  const auto ended = (*run)->wait();
  if (!ended) std::cerr << ended.error().message << '\n';
  return ended ? 0 : 1;
}
