#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>

#include "base/log.h"
#include "base/text.h"
#include "pipeline/plan/planner.h"
#include "pipeline/process/commands/commands.h"
#include "pipeline/process/commands/load.h"
#include "pipeline/process/commands/print.h"
#include "pipeline/process/graph_cut.h"
#include "pipeline/process/machine_probe.h"
#include "pipeline/process/plugin_loader.h"
#include "pipeline/process/run_session.h"
#include "pipeline/process/sample_writer.h"

namespace brigade {
namespace {

// Shows a line per sample that was written, and asks for the end after the last.
class SampleLines final : public RunLines {
 public:
  explicit SampleLines(std::uint64_t wanted) : wanted_(wanted) {}

  void line(LineKind kind, const std::string& text) override {
    const auto sample = strip_prefix(text, concat(kSampleWriter, ": "));
    if (kind == LineKind::output && sample) {
      print_line(*sample);
      if (++written_ == wanted_ && session != nullptr) stop_twice();
    } else if (kind == LineKind::error || kind == LineKind::warning) {
      log(kind == LineKind::error ? LogLevel::error : LogLevel::warning, text);
    }
  }
  void progress(const std::string&) override {}
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
  std::atomic<std::uint64_t> written_{0};
};

int failed(int code, const std::string& message) {
  log_error(message);
  return code;
}

// A few samples are no reason to write the files of caches anew.
void keep_in_memory(ValidGraph& graph) {
  for (ValidStage& stage : graph.stages) {
    if (!stage.type->contract.cache) continue;
    for (auto& [name, value] : stage.param_values)
      if (name == "file") value = {};
  }
}

// The plan of the part of the graph that ends in a sample writer.
Result<Plan> plan_sampling(const ValidGraph& graph, const SampleArguments& arguments,
                           const StageTypes& types) {
  BRIGADE_ASSIGN(ValidGraph cut,
                 cut_below(graph, arguments.stage, *types.find(kSampleWriter), kSampleWriter));
  keep_in_memory(cut);
  SampleWriterParams params;
  params.folder.path = arguments.folder;
  params.count = arguments.count;
  ValidStage& writer = cut.stages.back();
  for (const ParamSpec& spec : writer.type->contract.params) {
    writer.param_values.emplace_back(spec.name, spec.get(&params));
  }
  PlanResult planned = plan_graph(cut, probe_machine());
  if (!planned.ok()) return Error{planned.problems.front().message};
  return std::move(planned.plan);
}

}  // namespace

int sample_command(const SampleArguments& arguments, const StageTypes& types) {
  const LoadedGraph loaded = load_and_show(arguments.graph, types);
  if (!loaded.graph) return 2;
  StageTypes with_writer = types_of(types, *loaded.graph);
  add_sample_writer(with_writer);
  auto plan = plan_sampling(*loaded.graph, arguments, with_writer);
  if (!plan) return failed(2, plan.error().message);
  std::error_code error;
  std::filesystem::create_directories(arguments.folder, error);
  if (error) {
    return failed(2, concat("cannot make the folder ", arguments.folder, ": ", error.message()));
  }
  SampleLines lines(arguments.count);
  RunOptions options;
  options.in_process = true;
  options.handle_signals = true;
  auto session = RunSession::start(std::move(*plan), with_writer, lines, options);
  if (!session) return failed(1, session.error().message);
  lines.session = session->get();
  if (lines.enough()) lines.stop_twice();
  const RunOutcome& outcome = (*session)->wait();
  const bool fine = outcome.failure.empty() && (outcome.signal == 0 || lines.enough());
  if (fine) print_line(concat(lines.written(), " samples in ", arguments.folder, "/samples.tsv"));
  const int code = fine ? 0 : exit_code(outcome);
  if ((*session)->abandoned()) _exit(code);
  return code;
}

}  // namespace brigade
