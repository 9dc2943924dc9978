#include <unistd.h>

#include <csignal>
#include <new>
#include <optional>

#include "base/log.h"
#include "base/text.h"
#include "pipeline/process/commands/commands.h"
#include "pipeline/process/commands/load.h"
#include "pipeline/process/commands/print.h"
#include "pipeline/process/commands/summary_file.h"
#include "pipeline/process/console.h"
#include "pipeline/process/plugin_loader.h"
#include "pipeline/process/resume_point.h"
#include "pipeline/process/run_session.h"

namespace brigade {
namespace {

int failed(int code, const std::string& message) {
  log_error(message);
  return code;
}

int finish(const RunArguments& arguments, const Plan& plan, const RunOutcome& outcome,
           SummaryFile& summary_file, Console& console) {
  int code = exit_code(outcome);
  if (const auto written = summary_file.write(summary_json(outcome.summary)); !written) {
    console.line(LineKind::error, written.error().message);
    code = 1;
  }
  console.flush();
  const bool json_instead = arguments.summary_file == "-";
  if (outcome.ended_by_itself && !arguments.quiet && !json_instead)
    print_at_the_end(summary_text(plan, outcome.summary));
  return code;
}

Past past_of(const RunArguments& arguments) {
  if (arguments.resume) return Past::resume;
  return arguments.overwrite ? Past::overwrite : Past::refuse;
}

[[noreturn]] void say_out_of_memory() {
  constexpr std::string_view kText =
      "brigade: error: out of memory; raise the limit on address space (`ulimit -v`)\n";
  if (write(STDERR_FILENO, kText.data(), kText.size()) < 0) _exit(1);
  _exit(1);
}

}  // namespace

int run_command(const RunArguments& arguments, const StageTypes& types, std::int64_t started_ns) {
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
  for (const std::string& warning : planned.plan->warnings) {
    console.line(LineKind::warning, warning);
  }
  const StageTypes all_types = types_of(types, *planned.loaded.graph);
  Plan plan = *planned.plan;
  auto begin = begin_run(plan, all_types, past_of(arguments));
  if (!begin) {
    console.line(LineKind::error, begin.error().message);
    return 2;
  }
  if (!begin->line.empty()) console.line(LineKind::note, begin->line);
  RunOptions options;
  options.in_process = arguments.in_process;
  options.handle_signals = true;
  options.exec_ns = started_ns;
  options.quarantine_file = true;
  // Where memory runs out in the middle of an exception there is nothing left to catch; workers go
  // with this process.
  if (!options.in_process) std::set_new_handler(&say_out_of_memory);
  auto session = RunSession::start(plan, all_types, console, options);
  if (!session) {
    console.line(LineKind::error, session.error().message);
    return 1;
  }
  const RunOutcome& outcome = (*session)->wait();
  const int code = finish(arguments, *planned.plan, outcome, *summary_file, console);
  begin->lock.reset();
  if ((*session)->abandoned()) _exit(code);
  return code;
}

}  // namespace brigade
