// Results in one array: each sample's goes to the element of its id. Whoever is killed meanwhile,
// its successor works on the sample once more and writes the same.
//
//   result_array result_array.yaml

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

Result<std::vector<float>> means_of(const App& app, const Pipeline& graph) {
  BRIGADE_ASSIGN(const std::unique_ptr<Run> run, graph.start(app));
  BRIGADE_ASSIGN(const SharedTensor means, run->shared("means"));
  BRIGADE_TRY(run->wait());
  const auto all = means.as<float>();
  return std::vector<float>(all.begin(), all.end());
}

}  // namespace

int main(int argc, char** argv) {
  StageTypes types;
  types.add<MeanOfEach>(mean_contract());
  const App app(argc, argv, types);  // first: workers are this program, too, and stay in here
  auto graph = Pipeline::from_file(argc > 1 ? argv[1] : "result_array.yaml");
  auto found = graph ? means_of(app, graph->quiet()) : graph.error();
  auto one = graph ? means_of(app, graph->in_process().set("stages.work.replicas=1"))
                   : graph.error();  // the same in one process
  if (!found || !one) {
    std::cerr << (found ? one.error() : found.error()).message << '\n';
    return 2;
  }
  const auto largest = std::max_element(found->begin(), found->end());
  std::cout << found->size() << " means; the largest is that of sample " << largest - found->begin()
            << '\n';
  std::cout << (*found == *one ? "the same as of one process\n" : "NOT as of one process\n");
  return *found == *one ? 0 : 1;
}
