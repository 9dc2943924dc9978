#pragma once

// Events of a run, as values: deaths, restarts, quarantines, warnings, epochs, the
// end. The console, the log file and programs get the same events; event_text()
// makes the line that people read. No program needs to read such a line.
//
//   brigade::Events events = brigade::Events::open().value();
//   auto run = pipeline.events(events).start(app);
//   while (auto event = events.next().value()) ...
//
// Events wait in a queue of at most kEventsWaitingBytesMax. The run never
// waits for the program: events that do not fit are dropped, and `lost`
// of the next event counts them. Samples and batches have no events.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <brigade/export.h>
#include <brigade/result.h>

namespace brigade {

/// The numbers are those of c.h.
enum class EventKind : std::int32_t {
  message = 0,       ///< what `message` says: a note, a warning, an error
  progress = 1,      ///< how far the run is, about every 5 s
  logged = 2,        ///< a line that a stage has logged
  printed = 3,       ///< a line that a replica has printed to its standard output or error
  running = 4,       ///< the run starts; other replicas of transforms may still open
  epoch = 5,         ///< every consumer has finished it; up to 1 s late, several at once in one
  stopping = 6,      ///< the run was asked to stop
  ended = 7,         ///< the last event of a run
  died = 8,          ///< a replica has ended before its work was done
  restarted = 9,     ///< a successor has opened the stage
  not_started = 10,  ///< a replica, mostly a successor, could not be started
  quarantined = 11,  ///< samples that keep ending their worker; before that worker's `died`
  failed = 12,       ///< a replica reports that it cannot go on, which ends the run
  stalled = 13       ///< a call, an opening or the graph takes long, a process is stopped, or
                     ///< the program releases no batch for an output that waits for one
};

enum class EventLevel : std::int32_t { debug = 0, info = 1, warning = 2, error = 3 };

/// What the run does about a replica that has ended.
enum class EventNext : std::int32_t {
  nothing = 0,
  restart = 1,   ///< starts a successor after `delay_ns`
  resume = 2,    ///< starts all stages again, from the last checkpoint
  carry_on = 3,  ///< the stage's other replicas do its work
  fail = 4       ///< ends the run
};

struct EventSample {
  std::uint64_t number = 0;  ///< in the stream through all epochs
  bool placed = false;       ///< what follows is known
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;  ///< in its epoch
  std::uint64_t id = 0;     ///< index in the source
};

struct Event {
  EventKind kind = EventKind::message;
  EventLevel level = EventLevel::info;  ///< debug: neither the console nor the log file shows it
  std::int64_t time_ns = 0;             ///< since 1970, UTC
  std::uint64_t lost = 0;               ///< events before this one that were dropped
  std::string stage = {};               ///< empty: the event is about none
  int replica = -1;                     ///< of the stage; -1: the event is about none
  int pid = 0;                          ///< 0: a thread, or not known
  int signal = 0;      ///< died: which one killed it; stopping, ended: which one stopped the run
  int exit_code = -1;  ///< died: -1 where a signal did it; ended: that of `brigade run`
  EventNext next = EventNext::nothing;  ///< of died, not_started
  int restarts = 0;                     ///< of this replica that count now
  int restarts_max = 0;  ///< of `restart:`, within `within_ns`; 0: these do not matter
  std::int64_t within_ns = 0;
  std::int64_t delay_ns = 0;               ///< until the successor is started
  std::optional<EventSample> sample = {};  ///< died: in flight; quarantined: the first one
  int deaths = 0;                          ///< quarantined: workers that the sample has ended
  std::uint64_t samples = 0;     ///< delivered so far; died, quarantined: put into quarantine
  std::uint64_t epoch = 0;       ///< counted from 0
  std::int64_t duration_ns = 0;  ///< stalled: so far; ended: of the run; stopping: the most
  std::string message = {};      ///< without the name of the stage or replica
  std::string help = {};         ///< died: what its program should do
  std::string output = {};       ///< died: its last lines
  std::string reason = {};       ///< died: why the run ends
};

/// One line.
BRIGADE_API std::string event_text(const Event& event);

inline constexpr std::size_t kEventsWaitingBytesMax = 4 << 20;

/// The events of one run. Copies are handles on the same queue. Any thread; in a forked child there
/// are none.
class BRIGADE_API Events {
 public:
  static Result<Events> open();

  /// The next event. Nothing: the run has ended, or could not start, and all were taken.
  Result<std::optional<Event>> next();
  /// Likewise, waiting for at most that long. The error of a timeout has Refusal::interrupted.
  Result<std::optional<Event>> next_for(std::chrono::nanoseconds timeout);
  /// Readable when next() would not wait, for poll(). It stays this object's.
  int descriptor() const;

  struct State;

 private:
  friend class Pipeline;
  explicit Events(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace brigade
