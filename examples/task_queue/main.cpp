// A queue of 10,000 tasks, and workers that run a TorchScript module on them. Whoever of the
// workers dies meanwhile: each task is answered once; in order, or with `any` as they finish.
//
//   [MODULE=FILE] task_queue [any]

#include <ATen/Parallel.h>
#include <brigade/pipeline.h>
#include <brigade/torch.h>
#include <torch/script.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

namespace {

using namespace brigade;  // an example is all about it

struct ModuleParams {
  InputPath file;
};

Contract<ModuleParams> module_contract() {
  return Contract<ModuleParams>("torchscript", "Runs a TorchScript module.")
      .transform()
      .param("file", &ModuleParams::file, "file written by torch.jit.save()")
      .required()
      .input("x", {f32}, {16}, "input of the task")
      .outputs([](const ModuleParams&, const Ports& in) -> Result<Ports> {
        return Ports{*in.find("x"), {"y", f32, {4}}};
      });
}

Result<torch::jit::Module> load(const std::string& file) {
  try {
    return torch::jit::load(file);
  } catch (const std::exception&) {  // its text is a page
    return Error{file + " is not a TorchScript file; write it with torch.jit.script(model).save()"};
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
    torch_view(out["x"]).copy_(torch_view(in["x"]));
    torch_view(out["y"]).copy_(module_.forward({torch_view(in["x"])}).toTensor());
    return Next::emit;
  }

 private:
  torch::jit::Module module_;
};

void feed(const at::Tensor& tasks, Input queue) {
  for (std::int64_t i = 0; i < tasks.size(0); ++i) {
    auto slot = queue.acquire();
    if (!slot || !*slot) return;  // the run has ended: wait() says why
    torch_view((**slot)["x"]).copy_(tasks[i]);
    if (!(*slot)->submit()) return;
  }
}

Result<bool> answer(const App& app, const std::string& file, bool any) {
  BRIGADE_ASSIGN(Pipeline graph, Pipeline::from_file("task_queue.yaml", {"cpp.yaml"}));
  if (any) graph.set("stages.results.params.order=any");
  BRIGADE_ASSIGN(const std::unique_ptr<Run> run, graph.quiet().start(app));
  const at::Tensor tasks = at::randn({10'000, 16});
  std::jthread feeder(feed, tasks, run->input("tasks"));
  std::int64_t answers = 0;
  const at::Tensor x = at::zeros_like(tasks), y = at::zeros({tasks.size(0), 4});
  for (const Batch& batch : run->output("results")) {
    const auto first = any ? static_cast<std::int64_t>(batch.sample(0).index) : answers;
    x.narrow(0, first, batch.size()).copy_(torch_view(batch["x"]));
    y.narrow(0, first, batch.size()).copy_(torch_view(batch["y"]));
    answers += batch.size();
  }
  BRIGADE_TRY(run->wait());
  BRIGADE_ASSIGN(torch::jit::Module module, load(file));
  const c10::InferenceMode guard;
  const at::Tensor alone = module.forward({tasks}).toTensor();  // the same in one process
  const bool once = answers == tasks.size(0) && x.equal(tasks);
  const bool same = y.allclose(alone, 0, 1e-5);
  std::cout << answers << " answers, one per task and in order: " << (once ? "True" : "False")
            << "\nequal to the result of one process: " << (same ? "True" : "False") << '\n';
  return once && same;
}

void write_module(const std::string& file) {
  torch::jit::Module module("answers");
  module.register_parameter("wide", at::randn({16, 32}), false);
  module.register_parameter("narrow", at::randn({32, 4}), false);
  module.define("def forward(self, x):\n    return torch.tanh(x @ self.wide) @ self.narrow\n");
  module.save(file);
}

}  // namespace

int main(int argc, char** argv) {
  StageTypes types;
  types.add<RunModule>(module_contract());
  const App app(argc, argv, types);  // first: workers are this program, too, and stay in here
  const auto made = std::filesystem::temp_directory_path() /
                    ("task_queue_" + std::to_string(app.started_ns()) + ".pt");
  if (setenv("MODULE", made.c_str(), 0); getenv("MODULE") == made) write_module(made);
  const auto right = answer(app, getenv("MODULE"), argc > 1 && argv[1] == std::string_view("any"));
  std::filesystem::remove(made);
  return exit_code(right);
}
