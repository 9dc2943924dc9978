#include <brigade/app.h>

#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include <brigade/text.h>
#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "pipeline/run/supervisor/stop_requests.h"
#include "pipeline/worker/module_loader.h"
#include "pipeline/worker/worker.h"
#include "stages/builtin.h"
#include "transports/policy.h"

namespace brigade {
namespace {

// What this process has computed so far is what came before main(): the dynamic linker's work.
std::int64_t exec_time_ns() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return monotonic_ns() - (used.tv_sec * 1'000'000'000 + used.tv_nsec);
}

// A run registers too (shared_segments.cpp), and later than here: the kernel takes 0.01 ms from a
// process of one thread, and makes one of several wait for all processors (13 ms).
void join_barriers_early() { (void)SystemPolicy::join_barriers(); }

[[noreturn]] void become_worker(const char* text, const StageTypes& types) {
  const auto role = parse_role(text);
  unsetenv(kRoleVariable);  // a program that the stage starts is no worker
  if (role) run_worker(*role, types);
  log_error(role.error().message);
  std::exit(2);
}

}  // namespace

App::App(int argc, char** argv, const StageTypes& types)
    : arguments_(argv, argv + argc), types_(types), started_ns_(exec_time_ns()) {
  types_.append(builtin_stage_types());
  if (const char* role = std::getenv(kRoleVariable)) become_worker(role, types_);
  join_barriers_early();
  open_standard_descriptors();
}

App::App() : types_(builtin_stage_types()), started_ns_(monotonic_ns()) {
  join_barriers_early();
  open_standard_descriptors();
}

Result<App> App::of_host(std::string program) {
  App app;
  app.workers_ = std::move(program);
  if (app.workers_.empty()) {
    BRIGADE_ASSIGN(app.workers_, installed_program());
  } else if (access(app.workers_.c_str(), X_OK) != 0) {
    return error_of_errno(concat("cannot execute ", app.workers_));
  }
  return app;
}

int exit_code(const Result<bool>& right) {
  if (!right) (void)write_all(STDERR_FILENO, concat(right.error().message, '\n'));
  return right && *right ? 0 : 1;
}

}  // namespace brigade
