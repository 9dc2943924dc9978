#include <algorithm>
#include <chrono>
#include <utility>

#include <brigade/event.h>
#include "pipeline/api/c/c_call.h"
#include "pipeline/api/c/handles.h"

using namespace brigade;
using namespace brigade::c_api;

brigade_status brigade_events_open(brigade_events** events) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(events);
    auto opened = Events::open();
    if (!opened) return fail(opened.error(), BRIGADE_ERROR_RUN);
    *events = new brigade_events{std::move(*opened)};
    return BRIGADE_OK;
  });
}

brigade_status brigade_events_next(brigade_events* events, uint64_t timeout_ns,
                                   brigade_event* event) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(events);
    BRIGADE_C_NEEDS(event);
    if (const auto wrong = check_size(event->size, "brigade_event")) return wrong;
    const auto most = static_cast<std::uint64_t>(INT64_MAX);
    auto next = timeout_ns == BRIGADE_FOR_EVER
                    ? events->events.next()
                    : events->events.next_for(std::chrono::nanoseconds(std::min(timeout_ns, most)));
    if (!next && next.error().refusal == Refusal::interrupted) return BRIGADE_TIMEOUT;
    if (!next) return fail(next.error(), BRIGADE_ERROR_RUN);  // in a forked child
    if (!*next) return BRIGADE_END;
    const Event& one = events->last = std::move(**next);
    events->text = event_text(one);  // of texts that are printable
    const bool placed = one.sample && one.sample->placed;
    return write_struct({.size = 0,
                         .kind = static_cast<std::int32_t>(one.kind),
                         .level = static_cast<std::int32_t>(one.level),
                         .time_ns = one.time_ns,
                         .lost = one.lost,
                         .stage = one.stage.c_str(),
                         .text = events->text.c_str(),
                         .message = one.message.c_str(),
                         .help = one.help.c_str(),
                         .output = one.output.c_str(),
                         .reason = one.reason.c_str(),
                         .replica = one.replica,
                         .pid = one.pid,
                         .signal = one.signal,
                         .exit_code = one.exit_code,
                         .next = static_cast<std::int32_t>(one.next),
                         .restarts = one.restarts,
                         .restarts_max = one.restarts_max,
                         .deaths = one.deaths,
                         .within_ns = one.within_ns,
                         .delay_ns = one.delay_ns,
                         .duration_ns = one.duration_ns,
                         .sample = one.sample ? one.sample->number : BRIGADE_UNKNOWN,
                         .sample_epoch = placed ? one.sample->epoch : BRIGADE_UNKNOWN,
                         .sample_index = placed ? one.sample->index : BRIGADE_UNKNOWN,
                         .sample_id = placed ? one.sample->id : BRIGADE_UNKNOWN,
                         .samples = one.samples,
                         .epoch = one.epoch},
                        "brigade_event", event);
  });
}

int32_t brigade_events_descriptor(const brigade_events* events) {
  return events == nullptr ? -1 : events->events.descriptor();
}

void brigade_events_close(brigade_events* events) { delete events; }
