#include <csignal>
#include <utility>

#include "pipeline/c_api/c_call.h"
#include "pipeline/c_api/handles.h"
#include "pipeline/program/refusal.h"

using namespace brigade;
using namespace brigade::c_api;

namespace {

/// Why the next batch was refused.
brigade_status why_not() {
  if (was_interrupted()) return BRIGADE_ERROR_INTERRUPTED;
  if (last_refusal() == Refusal::held) return BRIGADE_ERROR_HELD;
  if (last_refusal() == Refusal::unread) return BRIGADE_ERROR_UNREAD;
  return BRIGADE_ERROR_RUN;  // in a forked child
}

}  // namespace

brigade_status brigade_run_stop(brigade_run* run) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(run);
    run->run->stop();
    return BRIGADE_OK;
  });
}

brigade_status brigade_run_wait(brigade_run* run) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(run);
    was_interrupted() = false;
    const auto ended = run->run->wait();
    if (ended) return BRIGADE_OK;
    return fail(was_interrupted() ? BRIGADE_ERROR_INTERRUPTED : BRIGADE_ERROR_RUN,
                ended.error().message);
  });
}

brigade_status brigade_run_state(brigade_run* run, const void** state, size_t* bytes) {
  return brigade_run_state_at_epoch(run, 0, state, bytes);
}

brigade_status brigade_run_state_at_epoch(brigade_run* run, uint64_t epoch, const void** state,
                                          size_t* bytes) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(run);
    BRIGADE_C_NEEDS(state);
    BRIGADE_C_NEEDS(bytes);
    auto taken = run->run->state_at_epoch(epoch);
    if (!taken) return fail(BRIGADE_ERROR_RUN, taken.error().message);
    run->state = std::move(*taken);
    *state = run->state.data();
    *bytes = run->state.size();
    return BRIGADE_OK;
  });
}

brigade_status brigade_run_summary(brigade_run* run, const char** json) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(run);
    BRIGADE_C_NEEDS(json);
    was_interrupted() = false;
    std::string summary = run->run->summary_json();
    if (was_interrupted())
      return fail(BRIGADE_ERROR_INTERRUPTED, "the wait for the end of the run was interrupted");
    const std::lock_guard lock(run->mutex);
    if (!run->summary) run->summary = std::move(summary);
    *json = run->summary->c_str();
    return BRIGADE_OK;
  });
}

void brigade_run_close(brigade_run* run) { delete run; }

brigade_status brigade_run_output(brigade_run* run, const char* name, brigade_output** output) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(run);
    BRIGADE_C_NEEDS(name);
    BRIGADE_C_NEEDS(output);
    auto shared = run->outputs.get(name, [&] { return run->run->output(name); });
    if (!shared) return fail(BRIGADE_ERROR_ARGUMENT, shared.error().message);
    *output = new brigade_output{std::move(*shared)};
    return BRIGADE_OK;
  });
}

brigade_status brigade_output_next_at(brigade_output* output, uint64_t epoch, const char* file,
                                      int32_t line, brigade_batch** batch) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(output);
    BRIGADE_C_NEEDS(batch);
    SharedEnd<Output>& shared = *output->shared;
    const OneCall call(shared.in_call);
    if (!call.is_mine())
      return fail(BRIGADE_ERROR_BUSY,
                  "another thread asks this output for its next batch; one at a time may");
    was_interrupted() = false;
    last_refusal() = Refusal::other;
    auto next = shared.end.next_in_epoch(epoch, {shared.place(file), line});
    if (!next) return fail(why_not(), next.error().message);
    if (!*next) return BRIGADE_END;
    *batch = new brigade_batch{std::move(**next)};
    return BRIGADE_OK;
  });
}

int32_t brigade_output_ended(brigade_output* output) {
  if (output == nullptr) return 1;
  const OneCall call(output->shared->in_call);
  return call.is_mine() && output->shared->end.ended();
}

int32_t brigade_output_full(brigade_output* output) {
  if (output == nullptr) return 0;
  const OneCall call(output->shared->in_call);
  return call.is_mine() && output->shared->end.full();
}

void brigade_output_close(brigade_output* output) { delete output; }
