#include "pipeline/cli/commands/sampling.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <utility>

#include <brigade/text.h>
#include "base/log.h"
#include "pipeline/cli/commands/load.h"
#include "pipeline/cli/commands/print.h"
#include "pipeline/cli/samples/graph_cut.h"
#include "pipeline/memory/machine_probe.h"
#include "pipeline/plan/planner/planner.h"
#include "pipeline/run/run_session.h"
#include "pipeline/worker/plugin_loader.h"

namespace brigade {
namespace {

// Shows a line per sample that was written, and asks for the end after the last.
class SampleLines final : public RunOutput {
 public:
  SampleLines(std::uint64_t wanted, std::string reader)
      : wanted_(wanted), reader_(std::move(reader)) {}

  void tell(const Event& event) override {
    if (event.kind == EventKind::logged && event.stage == reader_) {
      print_line(event.message);
      if (++written_ == wanted_ && session != nullptr) stop_twice();
    } else if (event.level == EventLevel::error) {
      log(LogLevel::error, event_text(event));
    } else if (event.level == EventLevel::warning) {
      log(LogLevel::warning, event_text(event));
    }
  }
  std::int64_t progress_every_ns() const override { return 0; }

  std::uint64_t written() const { return written_; }
  bool enough() const { return written_ >= wanted_; }
  std::atomic<RunSession*> session{nullptr};

  void stop_twice() {
    session.load()->stop(SIGTERM);
    session.load()->stop(SIGTERM);
  }

 private:
  const std::uint64_t wanted_;
  const std::string reader_;
  std::atomic<std::uint64_t> written_{0};
};

// A few samples are no reason to write the files of caches anew, nor that of a checkpoint.
void keep_in_memory(ValidGraph& graph) {
  graph.checkpoint_file.clear();
  for (ValidStage& stage : graph.stages) {
    if (!stage.type->contract.cache) continue;
    for (auto& [name, value] : stage.param_values)
      if (name == "file") value = {};
  }
}

// The plan of the part of the graph that ends in the reader.
Result<Plan> plan_sampling(const ValidGraph& graph, const std::string& stage,
                           const SampleReader& reader, const StageTypes& types) {
  BRIGADE_ASSIGN(ValidGraph cut, cut_below(graph, stage, *types.find(reader.type), reader.type));
  keep_in_memory(cut);
  ValidStage& last = cut.stages.back();
  for (const ParamSpec& spec : last.type->contract.params)
    last.param_values.emplace_back(spec.name, spec.get(reader.params));
  PlanResult planned = plan_graph(cut, probe_machine());
  if (!planned.ok()) return Error{planned.problems.front().message};
  return std::move(planned.plan);
}

}  // namespace

void declare_sampling(Options& options, SamplingArguments& arguments) {
  options.graph(arguments.graph);
  options.text("--stage", arguments.stage, "the stage to read", "NAME");
  options.required("--stage");
  options.number("-n", arguments.count, 1, 100000,
                 concat("number of samples (", arguments.count, ")"), "N");
}

int run_sampling(const SamplingArguments& arguments, const SampleReader& reader,
                 const StageTypes& types) {
  GraphFiles graph = arguments.graph;
  graph.read = {arguments.stage};  // whatever reads it, or does not
  const LoadedGraph loaded = load_and_show(graph, types);
  if (!loaded.graph) return 2;
  StageTypes with_reader = types_of(types, *loaded.graph);
  reader.add(with_reader);
  auto plan = plan_sampling(*loaded.graph, arguments.stage, reader, with_reader);
  if (!plan) return failed(2, plan.error().message);
  std::error_code error;
  if (!reader.folder.empty()) std::filesystem::create_directories(reader.folder, error);
  if (error)
    return failed(2, concat("cannot create the folder ", reader.folder, ": ", error.message()));
  SampleLines lines(arguments.count, reader.type);
  RunOptions options;
  options.in_process = true;
  options.handle_signals = true;
  auto session = RunSession::start({std::move(*plan), {}}, with_reader, lines, options);
  if (!session) return failed(1, session.error().message);
  lines.session = session->get();
  if (lines.enough()) lines.stop_twice();
  const RunOutcome& outcome = (*session)->wait();
  const bool fine = outcome.failure.empty() && (outcome.signal == 0 || lines.enough());
  if (fine) print_line(concat(lines.written(), " samples in ", reader.place));
  const int code = fine ? 0 : exit_code(outcome);
  if ((*session)->abandoned()) _exit(code);
  return code;
}

}  // namespace brigade
