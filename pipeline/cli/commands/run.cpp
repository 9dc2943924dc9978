#include <unistd.h>

#include <csignal>
#include <new>
#include <optional>

#include <brigade/text.h>
#include "pipeline/api/start_run.h"
#include "pipeline/cli/commands/commands.h"
#include "pipeline/cli/commands/load.h"
#include "pipeline/cli/commands/print.h"
#include "pipeline/cli/commands/summary_file.h"
#include "pipeline/report/console.h"

namespace brigade {
namespace {

constexpr const char* kRunExamples = R"(Examples:
  brigade run train.yaml
  brigade run train.yaml --limit 1000 --set epochs=1      a quick try
  brigade run train.yaml --summary run.json --quiet       for scripts
  brigade run train.yaml --in-process                     for a debugger

Ctrl-C drains the pipeline; a second Ctrl-C ends it immediately.
Exit codes: 0 done, 1 the run failed, 2 the command or the YAML is wrong, 130/143 stopped.)";

struct RunArguments {
  GraphFiles graph;
  std::string summary_file;  // empty: none
  std::string log_file;      // empty: none
  bool in_process = false;
  bool resume = false;
  bool overwrite = false;
  bool quiet = false;
  bool verbose = false;
};

void declare(Options& options, RunArguments& arguments) {
  options.graph(arguments.graph);
  options.text("--summary", arguments.summary_file,
               "write a summary as JSON (-: to standard output)", "FILE");
  options.text("--log", arguments.log_file, "append every line to this file, with the time",
               "FILE");
  options.flag("--in-process", arguments.in_process, "threads instead of processes, for debuggers");
  options.flag("--resume", arguments.resume, "resume from the checkpoint of the last run");
  options.flag("--overwrite", arguments.overwrite,
               "start from scratch and replace an existing checkpoint");
  options.excludes("--overwrite", "--resume");
  options.flag("--quiet", arguments.quiet, "warnings, errors and results only");
  options.flag("--verbose", arguments.verbose, "at the end, print the counts of every edge");
  options.excludes("--quiet", "--verbose");
}

SummaryDetail detail_of(const RunArguments& arguments) {
  if (arguments.quiet) return SummaryDetail::results;
  return arguments.verbose ? SummaryDetail::edges : SummaryDetail::usual;
}

int finish(const RunArguments& arguments, const Plan& plan, const RunOutcome& outcome,
           SummaryFile& summary_file, Console& console) {
  int code = exit_code(outcome);
  if (const auto written = summary_file.write(summary_json(outcome)); !written) {
    console.error(written.error().message);
    code = 1;
  }
  console.flush();
  const bool json_instead = arguments.summary_file == "-";
  if (outcome.ended_by_itself() && !json_instead)
    print_at_the_end(summary_text(plan, outcome.summary, detail_of(arguments)));
  return code;
}

Past past_of(const RunArguments& arguments) {
  if (arguments.resume) return Past::resume;
  return arguments.overwrite ? Past::overwrite : Past::refuse;
}

int run(const RunArguments& arguments, const StageTypes& types, std::int64_t started_ns) {
  const PlannedGraph planned = plan_and_show(arguments.graph, types);
  if (!planned.plan) return 2;
  std::optional<LogFile> log;
  if (!arguments.log_file.empty()) {
    auto opened = LogFile::open(arguments.log_file);
    if (!opened) return failed(2, opened.error().message);
    log = std::move(opened).value();
  }
  auto summary_file = SummaryFile::open(arguments.summary_file);
  if (!summary_file) return failed(2, summary_file.error().message);
  signal(SIGPIPE, SIG_IGN);  // a closed pipe costs lines, not the run
  const auto made = Console::create(STDERR_FILENO, arguments.quiet, std::move(log));
  if (!made) return failed(1, made.error().message);
  Console& console = **made;
  RunOptions options;
  options.in_process = arguments.in_process;
  options.handle_signals = true;
  options.exec_ns = started_ns;
  options.quarantine_file = true;
  // Where memory runs out in the middle of an exception there is nothing left to catch; workers go
  // with this process.
  if (!options.in_process) std::set_new_handler(&say_out_of_memory);
  StartedRun run = start_run(planned, types, past_of(arguments), console, options);
  if (!run.session) {
    console.error(run.failure);
    if (run.refused) return 2;
    RunOutcome none;
    none.end = RunEnd::failed;
    none.failure = run.failure;
    return finish(arguments, *planned.plan, none, *summary_file, console);
  }
  const RunOutcome& outcome = run.session->wait();
  const int code = finish(arguments, *planned.plan, outcome, *summary_file, console);
  run.lock.reset();
  if (run.session->abandoned()) _exit(code);
  return code;
}

}  // namespace

Command run_command() {
  return make_command<RunArguments>("run", "run a graph", kRunExamples, declare, run);
}

}  // namespace brigade
