#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <optional>

#include "base/text.h"
#include "pipeline/process/commands/commands.h"
#include "pipeline/process/commands/load.h"
#include "pipeline/process/commands/print.h"
#include "pipeline/process/console.h"
#include "pipeline/process/plugin_loader.h"
#include "pipeline/process/resume_point.h"
#include "pipeline/process/run_session.h"

namespace brigade {
namespace {

int wrong_command(const std::string& message) {
  print_error(concat("brigade: error: ", message, '\n'));
  return 2;
}

// Opened before the run: hours of work are a bad moment to learn that a folder is missing.
Result<OwnedFd> open_summary(const std::string& path) {
  OwnedFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (file.get() >= 0) return file;
  return Error{concat("cannot write the summary ", path, ": ", std::strerror(errno))};
}

bool write_summary(const OwnedFd& file, const std::string& json) {
  std::string_view rest = json;
  if (ftruncate(file.get(), 0) != 0 && errno != EINVAL) return false;  // EINVAL: a pipe
  while (!rest.empty()) {
    const ssize_t written = write(file.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

int finish(const RunArguments& arguments, const Plan& plan, const RunOutcome& outcome,
           const OwnedFd& summary_file, RunLines& lines) {
  if (outcome.ended_by_itself && !arguments.quiet) print(summary_text(plan, outcome.summary));
  if (summary_file.get() >= 0 && !write_summary(summary_file, summary_json(outcome.summary))) {
    lines.line(LineKind::error, concat("cannot write the summary ", arguments.summary_file, ": ",
                                       std::strerror(errno)));
    return 1;
  }
  return exit_code(outcome);
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
    if (!opened) return wrong_command(opened.error().message);
    log = std::move(opened).value();
  }
  OwnedFd summary_file;
  if (!arguments.summary_file.empty()) {
    auto opened = open_summary(arguments.summary_file);
    if (!opened) return wrong_command(opened.error().message);
    summary_file = std::move(opened).value();
  }
  signal(SIGPIPE, SIG_IGN);  // a closed pipe costs lines, not the run
  Console console(STDERR_FILENO, arguments.quiet, log ? &*log : nullptr);
  for (const std::string& warning : planned.plan->warnings) {
    console.line(LineKind::warning, warning);
  }
  const StageTypes all_types = types_of(types, *planned.loaded.graph);
  Plan plan = *planned.plan;
  prepare_checkpoints(plan, all_types);
  if (arguments.resume) {
    const auto from = resume_from_files(plan);
    if (!from) return wrong_command(from.error().message);
    console.line(LineKind::note, *from);
  }
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
  const int code = finish(arguments, *planned.plan, outcome, summary_file, console);
  if ((*session)->abandoned()) _exit(code);
  return code;
}

}  // namespace brigade
