// A queue of 10,000 tasks, and workers that run a TorchScript module on them. Whoever of the
// workers dies meanwhile: each task is answered once; in order, or with `any` as they finish.
//
//   task_queue [any]

#include <brigade/pipeline.h>
#include <brigade/torch.h>
#include <torch/script.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <thread>

namespace {

using namespace brigade;  // an example is all about it

constexpr std::int64_t kTasks = 10'000;
constexpr const char* kScript = R"(
def forward(self, x):
    return torch.tanh(x @ self.wide) @ self.narrow
)";

struct ModuleParams {
  InputPath file;
};

Contract<ModuleParams> module_contract() {
  return Contract<ModuleParams>("torchscript", "Runs a TorchScript module.")
      .transform()
      .param("file", &ModuleParams::file, "what torch.jit.save() has written")
      .required()
      .input("x", {DType::f32}, {16}, "a task")
      .outputs([](const ModuleParams&, const Ports& in) -> Result<Ports> {
        return Ports{*in.find("x"), TensorType{"y", DType::f32, {4}}};
      });
}

Result<torch::jit::Module> load(const std::string& file) {
  try {
    return torch::jit::load(file);
  } catch (const std::exception& error) {
    return Error{file + " is no TorchScript module: write torch.jit.script(model).save(FILE)"};
  }
}

class RunModule : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    at::set_num_threads(context.threads);
    BRIGADE_ASSIGN(module_, load(context.params<ModuleParams>().file.path));
    return {};
  }
  Result<Next> process(const Inputs& in, Outputs& out) override {
    const c10::InferenceMode guard;
    std::ranges::copy(in["x"].as<float>(), out["x"].as<float>().begin());
    const at::Tensor y = module_->forward({torch_view(in["x"])}).toTensor().contiguous();
    std::copy_n(y.data_ptr<float>(), 4, out["y"].as<float>().begin());
    return Next::emit;
  }

 private:
  std::optional<torch::jit::Module> module_;
};

void feed(const at::Tensor& tasks, Input queue) {
  for (std::int64_t i = 0; i < kTasks; ++i) {
    auto slot = queue.acquire();
    if (!slot || !*slot) return;  // the run has ended: wait() says why
    std::copy_n(tasks[i].data_ptr<float>(), 16, (**slot)["x"].as<float>().begin());
    if (!(*slot)->submit()) return;
  }
}

Result<bool> answer(const App& app, torch::jit::Module& module, bool any) {
  BRIGADE_ASSIGN(Pipeline graph, Pipeline::from_file("task_queue.yaml", {"cpp.yaml"}));
  if (any) graph.set("stages.results.params.order=any");
  BRIGADE_ASSIGN(const std::unique_ptr<Run> run, graph.quiet().start(app));
  const at::Tensor tasks = at::randn({kTasks, 16}, at::detail::createCPUGenerator(7));
  std::thread feeder(feed, tasks, run->input("tasks"));
  at::Tensor asked = at::zeros_like(tasks);
  at::Tensor answered = at::zeros({kTasks, 4});
  std::vector<int> times(kTasks);
  std::int64_t answers = 0;
  for (const Batch& batch : run->output("results")) {
    for (std::int64_t i = 0; i < batch.size(); ++i, ++answers) {
      const auto task = static_cast<std::int64_t>(batch.sample(i).index);
      const std::int64_t place = any ? task : answers;  // its own, or that in which it has come
      ++times[static_cast<std::size_t>(place)];
      asked[place] = torch_view(batch["x"])[i];
      answered[place] = torch_view(batch["y"])[i];
    }
  }
  feeder.join();
  BRIGADE_TRY(run->wait());
  const c10::InferenceMode guard;
  const at::Tensor alone = module.forward({tasks}).toTensor();  // the same in one process
  const bool once = asked.equal(tasks) && times == std::vector<int>(kTasks, 1);
  const bool same = answered.allclose(alone, 0, 1e-5);
  std::cout << answers << " answers, each task's once and in order: " << (once ? "True" : "False")
            << "\nthe same as of one process: " << (same ? "True" : "False") << '\n';
  return once && same;
}

}  // namespace

int main(int argc, char** argv) {
  StageTypes types;
  types.add<RunModule>(module_contract());
  const App app(argc, argv, types);  // first: workers are this program, too, and stay in here
  torch::jit::Module module("answers");
  module.register_parameter("wide", at::randn({16, 32}, at::detail::createCPUGenerator(1)), false);
  module.register_parameter("narrow", at::randn({32, 4}, at::detail::createCPUGenerator(2)), false);
  module.define(kScript);
  const auto file = std::filesystem::temp_directory_path() /
                    ("task_queue_" + std::to_string(app.started_ns()) + ".pt");
  module.save(file);
  setenv("MODULE", file.c_str(), 1);  // which the YAML names
  const auto right = answer(app, module, argc > 1 && std::string_view(argv[1]) == "any");
  std::filesystem::remove(file);
  if (!right) std::cerr << right.error().message << '\n';
  return right && *right ? 0 : 1;
}
