#include <csignal>
#include <utility>

#include "pipeline/api/c/c_call.h"
#include "pipeline/api/c/handles.h"

using namespace brigade;
using namespace brigade::c_api;

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
    const auto ended = run->run->wait();
    return ended ? BRIGADE_OK : fail(ended.error(), BRIGADE_ERROR_RUN);
  });
}

namespace {

/// Kept in `to` until the next such call.
brigade_status give(Result<std::string> taken, std::string& to, const void** data, size_t* bytes) {
  if (!taken) return fail(BRIGADE_ERROR_RUN, taken.error().message);
  to = std::move(*taken);
  *data = to.data();
  *bytes = to.size();
  return BRIGADE_OK;
}

}  // namespace

brigade_status brigade_run_state(brigade_run* run, const void** state, size_t* bytes) {
  return brigade_run_state_at_epoch(run, 0, state, bytes);
}

brigade_status brigade_run_state_at_epoch(brigade_run* run, uint64_t epoch, const void** state,
                                          size_t* bytes) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(run);
    BRIGADE_C_NEEDS(state);
    BRIGADE_C_NEEDS(bytes);
    return give(run->run->state_at_epoch(epoch), run->state, state, bytes);
  });
}

brigade_status brigade_run_mark(brigade_run* run, const void** mark, size_t* bytes) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(run);
    BRIGADE_C_NEEDS(mark);
    BRIGADE_C_NEEDS(bytes);
    return give(run->run->mark(), run->mark, mark, bytes);
  });
}

brigade_status brigade_run_state_at_mark(brigade_run* run, const void* mark, size_t mark_bytes,
                                         const void** state, size_t* bytes) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(run);
    BRIGADE_C_NEEDS(mark);
    BRIGADE_C_NEEDS(state);
    BRIGADE_C_NEEDS(bytes);
    return give(run->run->state_at_mark({static_cast<const char*>(mark), mark_bytes}), run->state,
                state, bytes);
  });
}

brigade_status brigade_run_stats(brigade_run* run, const char** json) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(run);
    BRIGADE_C_NEEDS(json);
    auto stats = run->run->stats_json();
    if (!stats) return fail(BRIGADE_ERROR_RUN, stats.error().message);
    run->stats = std::move(*stats);
    *json = run->stats.c_str();
    return BRIGADE_OK;
  });
}

brigade_status brigade_run_summary(brigade_run* run, const char** json) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(run);
    BRIGADE_C_NEEDS(json);
    auto summary = run->run->summary_json();
    if (!summary) return fail(summary.error(), BRIGADE_ERROR_RUN);
    const std::lock_guard lock(run->mutex);
    if (!run->summary) run->summary = std::move(*summary);
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

namespace {

brigade_status next_batch(brigade_output* output, uint64_t epoch, const char* file, int32_t line,
                          brigade_batch** batch, bool waits) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(output);
    BRIGADE_C_NEEDS(batch);
    SharedEnd<Output>& shared = *output->shared;
    const OneCall call(shared.in_call);
    if (!call.is_mine())
      return fail(
          BRIGADE_ERROR_BUSY,
          "another thread is requesting the next batch of this output; use one thread at a time");
    const Output::Here here{shared.place(file), line};
    auto next =
        waits ? shared.end.next_in_epoch(epoch, here) : shared.end.poll_in_epoch(epoch, here);
    if (!next && !waits && next.error().refusal == Refusal::interrupted) return BRIGADE_TIMEOUT;
    if (!next) return fail(next.error(), BRIGADE_ERROR_RUN);  // in a forked child
    if (!*next) return BRIGADE_END;
    *batch = new brigade_batch{std::move(**next)};
    return BRIGADE_OK;
  });
}

}  // namespace

brigade_status brigade_output_next_at(brigade_output* output, uint64_t epoch, const char* file,
                                      int32_t line, brigade_batch** batch) {
  return next_batch(output, epoch, file, line, batch, true);
}

brigade_status brigade_output_poll_at(brigade_output* output, uint64_t epoch, const char* file,
                                      int32_t line, brigade_batch** batch) {
  return next_batch(output, epoch, file, line, batch, false);
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
