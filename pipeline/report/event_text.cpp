// The line that people read of an event. Pure.

#include <brigade/event.h>
#include <brigade/text.h>
#include "base/units.h"
#include "pipeline/plan/replica_table.h"

namespace brigade {
namespace {

std::string name_text(const Event& event) {
  if (event.replica < 0) return event.stage.empty() ? "" : concat("stage ", quote(event.stage));
  const std::string name = replica_name(event.stage, event.replica);
  return event.pid == 0 ? name : concat(name, " (pid ", event.pid, ")");
}

std::string place_text(const EventSample& sample) {
  if (!sample.placed) return "";
  return concat(" (epoch ", sample.epoch, ", index ", sample.index, ", id ", sample.id, ")");
}

std::string next_text(const Event& event, std::string_view again) {
  const std::string within = format_nanoseconds(event.within_ns);
  const std::string count =
      concat(" (restart ", event.restarts, " of ", event.restarts_max, " within ", within, ")");
  switch (event.next) {
    case EventNext::restart:
      return concat("; ", again, ' ',
                    event.delay_ns == 0 ? std::string("immediately")
                                        : concat("in ", format_nanoseconds(event.delay_ns)),
                    count);
    case EventNext::resume:
      return concat("; the run resumes from its last checkpoint", count);
    case EventNext::nothing:
    case EventNext::carry_on:
    case EventNext::fail:
      break;
  }
  std::string text;
  if (event.restarts_max > 0)
    text = concat("; it was restarted ", format_times(event.restarts_max), " within ", within,
                  " (`restart:`)");
  if (event.next == EventNext::carry_on) text += "; the other replicas continue";
  return text;
}

std::string died_text(const Event& event) {
  std::string text = concat(name_text(event), ' ', event.message);
  if (!event.help.empty()) text += concat(" (", event.help, ")");
  if (event.sample)
    text += concat(" with sample ", event.sample->number, " in flight", place_text(*event.sample));
  if (!event.output.empty()) text += concat("; its last output: ", event.output);
  if (event.samples > 0)
    text += concat("; ", event.samples > 1 ? "its batch" : "the sample", " has killed ",
                   event.deaths, event.deaths == 1 ? " worker" : " workers", " and is quarantined");
  return concat(text, event.reason, next_text(event, "restarted"));
}

std::string quarantined_text(const Event& event) {
  const std::string first = concat("sample ", event.sample ? event.sample->number : 0,
                                   event.sample ? place_text(*event.sample) : std::string());
  return concat(name_text(event), ": ", first,
                event.samples > 1 ? concat(" and the rest of its batch are") : std::string(" is"),
                " quarantined: it has killed ", event.deaths,
                event.deaths == 1 ? " worker" : " workers");
}

std::string ended_text(const Event& event) {
  if (!event.message.empty()) return concat("the run has failed: ", event.message);
  return concat("the run ", event.exit_code == 0 ? "is done" : "was stopped", " after ",
                format_samples(event.samples), " and ", format_nanoseconds(event.duration_ns));
}

}  // namespace

std::string event_text(const Event& event) {
  switch (event.kind) {
    case EventKind::logged:
      return concat(event.stage, ": ", event.message);
    case EventKind::printed:
      return concat(event.stage, '.', event.replica, ": ", event.message);
    case EventKind::running:
      return "the run starts";
    case EventKind::epoch:
      return concat("epoch ", event.epoch, " has ended");
    case EventKind::ended:
      return ended_text(event);
    case EventKind::died:
      return died_text(event);
    case EventKind::restarted:
      return concat(name_text(event), " has restarted (restart ", event.restarts, ")");
    case EventKind::not_started:
      if (event.restarts_max == 0) return concat(name_text(event), ": ", event.message);
      return concat("cannot restart ", name_text(event), ": ", event.message,
                    next_text(event, "retried"));
    case EventKind::quarantined:
      return quarantined_text(event);
    case EventKind::failed:
      return concat(name_text(event), " failed: ", event.message);
    case EventKind::stalled:
      if (event.replica >= 0) return concat(name_text(event), ' ', event.message);
      break;
    case EventKind::message:
    case EventKind::progress:
    case EventKind::stopping:
      break;
  }
  return event.message;
}

}  // namespace brigade
