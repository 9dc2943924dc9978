// Two ranks train one model, each on its part of the data; gradients are averaged by c10d (gloo).
//
//   torchrun --no-python --nproc_per_node 2 data_parallel
//   mpirun -n 2 data_parallel
//   data_parallel                        one process, with twice the batch

#include <brigade/pipeline.h>
#include <brigade/text.h>
#include <brigade/torch.h>
#include <torch/torch.h>

#ifndef USE_C10D_GLOO  // Debian's LibTorch has it
#define USE_C10D_GLOO
#endif
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace brigade;  // an example is all about it
using Gloo = c10d::ProcessGroupGloo;

std::string variable(const char* name, const std::string& otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? text : otherwise;
}

/// What torchrun says, or mpirun.
int of_launcher(const char* name, const char* by_mpirun, const char* otherwise) {
  return std::stoi(variable(name, variable(by_mpirun, otherwise)));
}

c10::intrusive_ptr<Gloo> meet(int rank, int world) {
  const std::chrono::milliseconds timeout(
      static_cast<int>(1000 * std::stod(variable("RANK_TIMEOUT", "60"))));
  c10d::TCPStoreOptions where;
  where.port = static_cast<std::uint16_t>(std::stoi(variable("MASTER_PORT", "29500")));
  where.isServer = rank == 0 && variable("TORCHELASTIC_USE_AGENT_STORE", "") != "True";
  where.numWorkers = static_cast<std::size_t>(world);
  where.timeout = timeout;
  const std::string address = variable("MASTER_ADDR", "127.0.0.1");
  auto store = c10::make_intrusive<c10d::TCPStore>(address, where);
  auto options = Gloo::Options::create(timeout);
  options->devices.push_back(Gloo::createDeviceForHostname(address));
  return c10::make_intrusive<Gloo>(store, rank, world, options);
}

void average_gradients(const std::vector<at::Tensor>& parameters, Gloo& group) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& one : parameters) gradients.push_back(one.grad().reshape(-1));
  std::vector<at::Tensor> flat{at::cat(gradients)};
  group.allreduce(flat)->wait();
  std::int64_t at = 0;
  for (const at::Tensor& one : parameters) {
    one.grad().copy_((flat[0].narrow(0, at, one.numel()) / group.getSize()).view(one.sizes()));
    at += one.numel();
  }
}

Result<double> train(const App& app, Gloo* group) {
  BRIGADE_ASSIGN(Pipeline graph, Pipeline::from_file("data_parallel.yaml"));
  if (group == nullptr) graph.set("stages.numbers.batch=64");
  BRIGADE_ASSIGN(const std::unique_ptr<Run> run, graph.quiet().start(app));
  torch::manual_seed(7);
  at::set_num_threads(1);
  torch::nn::Sequential model(torch::nn::Linear(16, 32), torch::nn::Tanh(),
                              torch::nn::Linear(32, 1));
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  for (const Batch& batch : run->output("train")) {
    const at::Tensor data = to_torch(batch, "data");
    optimizer.zero_grad();
    at::mse_loss(model->forward(data), data.mean(1, true)).backward();
    if (group != nullptr) average_gradients(model->parameters(), *group);
    optimizer.step();
  }
  BRIGADE_TRY(run->wait());
  const at::Tensor x = at::linspace(0, 1, 160).view({10, 16});
  return at::mse_loss(model->forward(x), x.mean(1, true)).item<double>();
}

Result<bool> run_rank(const App& app) {
  const int rank = of_launcher("RANK", "OMPI_COMM_WORLD_RANK", "0");
  const int world = of_launcher("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "1");
  c10::intrusive_ptr<Gloo> group;
  try {
    if (world > 1) group = meet(rank, world);
  } catch (const std::exception& error) {
    const std::string_view why = error.what();
    return Error{concat("rank ", rank, " of ", world, " waited ", variable("RANK_TIMEOUT", "60"),
                        " s for the others: ", why.substr(0, why.find('\n')))};
  }
  BRIGADE_ASSIGN(const double loss, train(app, group.get()));
  if (rank == 0) std::printf("loss %.6f\n", loss);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const App app(argc, argv);  // first: a worker that is started from this program stays in here
  return exit_code(run_rank(app));
}
