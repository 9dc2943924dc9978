// Random numbers of LibTorch's generators that belong to the sample, inside a stage.
// Prints whether one, two and three replicas draw the same.
//
//   seeding seeding.yaml cpp.yaml

#include <brigade/pipeline.h>
#include <brigade/torch.h>

#include <iostream>
#include <set>
#include <vector>

namespace {

using namespace brigade;  // an example is all about it

struct NoiseParams {};

Contract<NoiseParams> noise_contract() {
  return Contract<NoiseParams>("noise", "Three numbers from a LibTorch generator.")
      .transform()
      .rest_passes()
      .outputs([](const NoiseParams&, const Ports&) -> Result<Ports> {
        return Ports{TensorType{"of_torch", DType::f32, {3}}};
      });
}

class Noise : public Stage {
 public:
  Result<Next> process(const Inputs& in, Outputs& out) override {
    const auto own = at::detail::createCPUGenerator(in.random().next64());
    torch_view(out["of_torch"]).copy_(at::randn({3}, own));
    return Next::emit;
  }
};

using Draws = std::vector<std::vector<float>>;

Result<Draws> draws(const App& app, Pipeline graph, int replicas) {
  graph.quiet().set("stages.noisy.replicas=" + std::to_string(replicas));
  BRIGADE_ASSIGN(const std::unique_ptr<Run> run, graph.start(app));
  Draws draws;
  for (const Batch& batch : run->output("out")) {
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      const Row row = batch.row(i);
      const auto numbers = row["of_torch"].as<float>();
      draws.emplace_back(numbers.begin(), numbers.end());
    }
  }
  BRIGADE_TRY(run->wait());
  return draws;
}

Result<bool> compare(const App& app) {
  BRIGADE_ASSIGN(const Pipeline graph, Pipeline::from_file("seeding.yaml", {"cpp.yaml"}));
  BRIGADE_ASSIGN(const Draws one, draws(app, graph, 1));
  BRIGADE_ASSIGN(const Draws two, draws(app, graph, 2));
  BRIGADE_ASSIGN(const Draws three, draws(app, graph, 3));
  const bool same = one == two && one == three;
  const std::size_t different = std::set(one.begin(), one.end()).size();
  std::cout << different << " samples with different numbers, the same for 1, 2 and 3 replicas: "
            << (same ? "True" : "False") << '\n';
  return same && different == 1000;
}

}  // namespace

int main(int argc, char** argv) {
  StageTypes types;
  types.add<Noise>(noise_contract());
  const App app(argc, argv, types);  // first: workers are this program, too, and stay in here
  return exit_code(compare(app));
}
