// Two modules see the same inputs, each in a process of its own, and are combined.
//
//   parallel_forward [SETTING ...]    of the graph, as after `--set`

#include <brigade/pipeline.h>
#include <brigade/torch.h>

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace {

using namespace brigade;  // an example is all about it

struct ForwardParams {
  std::uint64_t seed = 1;
};

/// Linear, ReLU, Linear.
struct Module {
  explicit Module(std::uint64_t seed) {
    at::Generator random = at::detail::createCPUGenerator(seed);
    wide = at::randn({512, 256}, random).div_(16);
    narrow = at::randn({8, 512}, random).div_(16);
  }
  at::Tensor forward(const at::Tensor& data) const {
    return at::linear(at::relu(at::linear(data, wide)), narrow);
  }
  at::Tensor wide, narrow;
};

/// Where memory lies that processes share: the number of its file, and the offset there.
at::Tensor place_of(const at::Tensor& data) {
  const auto at = reinterpret_cast<std::int64_t>(data.data_ptr());
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::int64_t begin = 0, end = 0, offset = 0, file = 0;
    std::sscanf(line.c_str(), "%lx-%lx %*s %lx %*s %ld", &begin, &end, &offset, &file);
    if (at >= begin && at < end) return at::tensor({file, at - begin + offset});
  }
  return at::tensor({0L, 0L});  // nowhere
}

Contract<ForwardParams> forward_contract() {
  return Contract<ForwardParams>("forward", "Runs the forward pass of a module.")
      .transform()
      .takes(Takes::batches)
      .param("seed", &ForwardParams::seed, 0, 1e9, "seed of the weights")
      .input("data", {f32}, {256}, "numbers")
      .outputs([](const ForwardParams&, const Ports&) -> Result<Ports> {
        return Ports{{"y", f32, {8}}, {"place", i64, {2}}};
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
    torch_view(out["place"]).copy_(place_of(data));
    return Next::emit;
  }

 private:
  std::optional<Module> module_;
};

Result<bool> combine(const App& app, const std::vector<std::string>& settings) {
  BRIGADE_ASSIGN(Pipeline graph, Pipeline::from_file("parallel_forward.yaml", {"cpp.yaml"}));
  for (const std::string& setting : settings) graph.set(setting);
  BRIGADE_ASSIGN(const std::unique_ptr<Run> run, graph.quiet().start(app));
  const Module alone[] = {Module(1), Module(2)};
  std::int64_t samples = 0;
  double furthest = 0;
  bool same = true;
  for (const Batch& batch : run->output("both")) {
    const at::Tensor combined = (torch_view(batch["first.y"]) + torch_view(batch["second.y"])) / 2;
    const at::Tensor data = torch_view(batch["inputs.data"]);
    const at::Tensor expected = (alone[0].forward(data) + alone[1].forward(data)) / 2;
    furthest = std::max(furthest, (combined - expected).abs().max().item<double>());
    for (const char* place : {"first.place", "second.place"})
      same = same && torch_view(batch[place]).eq(place_of(data)).all().item<bool>();
    samples += batch.size();
  }
  BRIGADE_TRY(run->wait());
  std::printf("%d samples through two modules, at most %.0e from one process\n",
              static_cast<int>(samples), furthest);
  std::printf("both modules and this program read the same memory: %s\n", same ? "True" : "False");
  return samples == 2000 && furthest < 1e-5 && same;
}

}  // namespace

int main(int argc, char** argv) {
  StageTypes types;
  types.add<Forward>(forward_contract());
  const App app(argc, argv, types);  // first: workers are this program, too, and stay in here
  return exit_code(combine(app, {argv + 1, argv + argc}));
}
