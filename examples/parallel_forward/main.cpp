// Two modules see the same inputs, each in a process of its own, and are combined.
//
//   parallel_forward parallel_forward.yaml cpp.yaml

#include <brigade/pipeline.h>
#include <brigade/torch.h>

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdio>

namespace {

using namespace brigade;  // an example is all about it

struct ForwardParams {
  std::uint64_t seed = 1;
};

/// Linear, ReLU, Linear.
class Module {
 public:
  explicit Module(std::uint64_t seed) {
    at::Generator random = at::detail::createCPUGenerator(seed);
    wide_ = at::randn({512, 256}, random).div_(16);
    narrow_ = at::randn({8, 512}, random).div_(16);
  }
  at::Tensor forward(const at::Tensor& data) const {
    return at::linear(at::relu(at::linear(data, wide_)), narrow_);
  }

 private:
  at::Tensor wide_;
  at::Tensor narrow_;
};

Contract<ForwardParams> forward_contract() {
  return Contract<ForwardParams>("forward", "A module, forwards.")
      .transform()
      .takes(Takes::batches)
      .param("seed", &ForwardParams::seed, 0, 1e9, "of its weights")
      .input("data", {DType::f32}, {256}, "numbers")
      .outputs([](const ForwardParams&, const Ports&) -> Result<Ports> {
        return Ports{TensorType{"y", DType::f32, {8}}};
      });
}

class Forward : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    at::set_num_threads(context.threads);
    module_.emplace(context.params<ForwardParams>().seed);
    return {};
  }
  Result<Next> process(const Inputs& in, Outputs& out) override {
    const at::Tensor data = torch_view(in["data"]);  // the memory that both read
    torch_view(out["y"]).copy_(module_->forward(data));
    return Next::emit;
  }

 private:
  std::optional<Module> module_;
};

Result<bool> combine(const App& app) {
  BRIGADE_ASSIGN(Pipeline graph, Pipeline::from_file("parallel_forward.yaml", {"cpp.yaml"}));
  BRIGADE_ASSIGN(const std::unique_ptr<Run> run, graph.quiet().start(app));
  const Module alone[] = {Module(1), Module(2)};
  std::int64_t samples = 0;
  double furthest = 0;
  for (const Batch& batch : run->output("both")) {
    const at::Tensor combined = (torch_view(batch["first.y"]) + torch_view(batch["second.y"])) / 2;
    const at::Tensor data = torch_view(batch["inputs.data"]);
    const at::Tensor expected = (alone[0].forward(data) + alone[1].forward(data)) / 2;
    furthest = std::max(furthest, (combined - expected).abs().max().item<double>());
    samples += batch.size();
  }
  BRIGADE_TRY(run->wait());
  std::printf("%d samples through two modules, at most %.0e from one process\n",
              static_cast<int>(samples), furthest);
  return samples == 2000 && furthest < 1e-5;
}

}  // namespace

int main(int argc, char** argv) {
  StageTypes types;
  types.add<Forward>(forward_contract());
  const App app(argc, argv, types);  // first: workers are this program, too, and stay in here
  return exit_code(combine(app));
}
