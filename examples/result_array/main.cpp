// Results in one array: each sample's goes to the element of its id. Whoever is killed meanwhile,
// its successor works on the sample once more and writes the same.
//
//   result_array [SETTING ...]    of the graph, as after `--set`

#include <algorithm>
#include <iostream>
#include <numeric>
#include <vector>

#include <brigade/pipeline.h>

namespace {

using namespace brigade;  // an example is all about it

struct MeanParams {};

Contract<MeanParams> mean_contract() {
  return Contract<MeanParams>("mean_of_each", "Writes the mean of each sample into `means`.")
      .consumer()
      .input("data", {DType::f32}, {any_size}, "numbers");
}

class MeanOfEach : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    BRIGADE_ASSIGN(means_, context.shared("means"));
    return {};
  }
  Result<Next> process(const Inputs& in, Outputs&) override {
    const auto data = in["data"].as<float>();
    const float sum = std::accumulate(data.begin(), data.end(), 0.0F);
    means_.as<float>()[in.info().id] = sum / static_cast<float>(data.size());
    return Next::emit;
  }

 private:
  SharedTensor means_;
};

using Means = std::vector<float>;

Result<Means> means_of(const App& app, const Pipeline& graph) {
  BRIGADE_ASSIGN(const std::unique_ptr<Run> run, graph.start(app));
  BRIGADE_ASSIGN(const SharedTensor means, run->shared("means"));
  BRIGADE_TRY(run->wait());
  return Means(means.as<float>().begin(), means.as<float>().end());
}

Result<bool> compare(const App& app, const std::vector<std::string>& settings) {
  BRIGADE_ASSIGN(Pipeline graph, Pipeline::from_file("result_array.yaml", {"cpp.yaml"}));
  Pipeline alone = graph.quiet();
  for (const std::string& setting : settings) graph.set(setting);
  BRIGADE_ASSIGN(const Means means, means_of(app, graph));
  BRIGADE_ASSIGN(const Means expected,
                 means_of(app, alone.in_process().set("stages.work.replicas=1")));
  const auto largest = std::ranges::max_element(means) - means.begin();
  std::cout << means.size() << " means; the largest belongs to sample " << largest
            << "\nequal to the result of one process: " << (means == expected ? "True" : "False")
            << '\n';
  return means == expected;
}

}  // namespace

int main(int argc, char** argv) {
  StageTypes types;
  types.add<MeanOfEach>(mean_contract());
  const App app(argc, argv, types);  // first: workers are this program, too, and stay in here
  return exit_code(compare(app, {argv + 1, argv + argc}));
}
