#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <brigade/text.h>
#include "base/log.h"
#include "stages/basic/basic_stages.h"
#include "stages/basic/crash_marker.h"

namespace brigade {
namespace {

using SampleIds = std::vector<std::int64_t>;

struct DelayParams {
  double ms = 0;
  std::uint64_t every = 1;
  SampleIds crash_at;
  SampleIds crash_once_at;
  OutputPath crash_marker;
  SampleIds fail_at;
};

constexpr double kSleepMaxMs = 3'600'000;
constexpr double kIdMax = 1ll << 47;

Contract<DelayParams> delay_contract() {
  return Contract<DelayParams>("delay", "Sleeps, and crashes or fails at given samples, for tests.")
      .transform()
      .rest_passes()
      .param("ms", &DelayParams::ms, 0, kSleepMaxMs, "milliseconds to sleep")
      .param("every", &DelayParams::every, 1, kIdMax,
             "sleep only for samples whose id is a multiple of this number")
      .param("crash_at", &DelayParams::crash_at, 0, kIdMax,
             "ids of samples at which the process aborts every time")
      .param("crash_once_at", &DelayParams::crash_once_at, 0, kIdMax,
             "ids of samples at which the process aborts the first time")
      .param("crash_marker", &DelayParams::crash_marker,
             "file that records the crashes of crash_once_at and is kept; default: a temporary "
             "file of this run")
      .param("fail_at", &DelayParams::fail_at, 0, kIdMax,
             "ids of samples at which the stage returns an error")
      .example("transform: delay\nfrom: images\nparams: {ms: 2.5, crash_once_at: [17, 4711]}\n");
}

class Delay : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    params_ = context.params<DelayParams>();
    for (SampleIds* ids : {&params_.crash_at, &params_.crash_once_at, &params_.fail_at})
      std::sort(ids->begin(), ids->end());
    const std::string& kept = params_.crash_marker.path;
    marker_ = CrashMarker(kept.empty() ? CrashMarker::path_of_run(context.stage) : kept);
    return {};
  }

  Result<Next> process(const Inputs& in, Outputs&) override {
    const std::uint64_t id = in.info().id;
    if (params_.ms > 0 && id % params_.every == 0)
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(params_.ms));
    if (lists(params_.crash_at, id)) crash("crash_at", id);
    if (lists(params_.crash_once_at, id) && !marker_.has(id)) {
      BRIGADE_TRY(marker_.add(id));
      crash("crash_once_at", id);
    }
    if (lists(params_.fail_at, id))
      return Error{concat("fails at sample ", id, ", as requested by fail_at")};
    return Next::emit;
  }

  Result<void> close() override {
    if (params_.crash_marker.path.empty() && !params_.crash_once_at.empty()) marker_.remove();
    return {};
  }

 private:
  static bool lists(const SampleIds& ids, std::uint64_t id) {
    return std::binary_search(ids.begin(), ids.end(), static_cast<std::int64_t>(id));
  }

  [[noreturn]] static void crash(const char* why, std::uint64_t id) {
    log_error("delay: aborts at sample ", id, ", as requested (", why, ")");
    std::abort();
  }

  DelayParams params_;
  CrashMarker marker_{""};
};

}  // namespace

void add_delay(StageTypes& types) { types.add<Delay>(delay_contract()); }

}  // namespace brigade
