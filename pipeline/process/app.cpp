#include "pipeline/process/app.h"

#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "pipeline/process/commands/commands.h"
#include "pipeline/process/commands/print.h"
#include "pipeline/process/signals.h"
#include "pipeline/process/worker.h"
#include "stages/builtin.h"

namespace brigade {
namespace {

// What this process has computed so far is what came before main(): the dynamic linker's work.
std::int64_t exec_time_ns() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return monotonic_ns() - (used.tv_sec * 1'000'000'000 + used.tv_nsec);
}

[[noreturn]] void become_worker(const char* text, const StageTypes& types) {
  const auto role = parse_role(text);
  unsetenv(kRoleVariable);  // a program that the stage starts is no worker
  if (role) run_worker(*role, types);
  log_error(role.error().message);
  std::exit(2);
}

struct Runner {
  const StageTypes& types;
  std::int64_t started_ns;

  int operator()(const RunArguments& arguments) const {
    return run_command(arguments, types, started_ns);
  }
  int operator()(const CheckArguments& arguments) const { return check_command(arguments, types); }
  int operator()(const PlanArguments& arguments) const { return plan_command(arguments, types); }
  int operator()(const DrawArguments& arguments) const { return draw_command(arguments, types); }
  int operator()(const StagesArguments& arguments) const {
    return stages_command(arguments, types);
  }
  int operator()(const SampleArguments& arguments) const {
    return sample_command(arguments, types);
  }
  int operator()(const InitArguments& arguments) const { return init_command(arguments, types); }
  int operator()(const HoldersArguments& arguments) const { return holders_command(arguments); }
  int operator()(const DoctorArguments&) const { return doctor_command(types); }
  int operator()(const CompletionsArguments& arguments) const {
    return completions_command(arguments, types);
  }
  int operator()(const ShowText& shown) const {
    if (shown.exit_code == 0) {
      print(shown.text);
    } else {
      print_error(shown.text);
    }
    return shown.exit_code;
  }
};

}  // namespace

App::App(int argc, char** argv, const StageTypes& types)
    : arguments_(argv, argv + argc), types_(types), started_ns_(exec_time_ns()) {
  types_.append(builtin_stage_types());
  if (const char* role = std::getenv(kRoleVariable)) become_worker(role, types_);
  open_standard_descriptors();
}

int App::run_command() const {
  return std::visit(Runner{types_, started_ns_}, parse_command_line(arguments_));
}

}  // namespace brigade
