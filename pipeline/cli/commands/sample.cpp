#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>

#include <brigade/text.h>
#include "base/log.h"
#include "pipeline/cli/commands/commands.h"
#include "pipeline/cli/commands/graph_cut.h"
#include "pipeline/cli/commands/load.h"
#include "pipeline/cli/commands/print.h"
#include "pipeline/cli/commands/sample_writer.h"
#include "pipeline/host/machine_probe.h"
#include "pipeline/host/plugin_loader.h"
#include "pipeline/plan/planner.h"
#include "pipeline/session/run_session.h"

namespace brigade {
namespace {

constexpr const char* kSampleExamples = R"(Examples:
  brigade sample train.yaml --stage augment
  brigade sample train.yaml --stage augment -n 100 --out /tmp/look

Pictures become PNG files, other tensors npy files (numpy.load reads them); samples.tsv lists them
with number, epoch and id. Nothing below the stage runs.)";

struct SampleArguments {
  GraphFiles graph;
  std::string stage;
  std::uint64_t count = 8;
  std::string folder = "samples";
};

void declare(Options& options, SampleArguments& arguments) {
  options.graph(arguments.graph);
  options.text("--stage", arguments.stage, "the stage", "NAME");
  options.required("--stage");
  options.number("-n", arguments.count, 1, 100000, "how many samples (8)", "N");
  options.text("--out", arguments.folder, "folder to write to (samples)", "FOLDER");
}

// Shows a line per sample that was written, and asks for the end after the last.
class SampleLines final : public RunOutput {
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

// A few samples are no reason to write the files of caches anew, nor that of a checkpoint.
void keep_in_memory(ValidGraph& graph) {
  graph.checkpoint_file.clear();
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

int sample(const SampleArguments& arguments, const StageTypes& types, std::int64_t) {
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
  auto session = RunSession::start({std::move(*plan), {}}, with_writer, lines, options);
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

}  // namespace

Command sample_command() {
  return make_command<SampleArguments>("sample", "write what a stage emits, to look at",
                                       kSampleExamples, declare, sample);
}

}  // namespace brigade
