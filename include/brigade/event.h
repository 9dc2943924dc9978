#pragma once

// Events of a run, as values: deaths, restarts, quarantines, warnings, epochs, the end. The
// console, the log file and programs get the same events; event_text() makes the line for people.
// No program needs to parse that line.
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

/// The numbers match c.h.
enum class EventKind : std::int32_t {
  message = 0,       ///< a note, a warning or an error in `message`
  progress = 1,      ///< progress of the run, about every 5 s
  logged = 2,        ///< a line logged by a stage
  printed = 3,       ///< a line that a replica printed to standard output or error
  running = 4,       ///< the run starts; other replicas of transforms may still open
  epoch = 5,         ///< every consumer finished it; up to 1 s late, may cover several
  stopping = 6,      ///< the run was asked to stop
  ended = 7,         ///< the last event of a run
  died = 8,          ///< a replica ended before its work was done
  restarted = 9,     ///< a successor opened the stage
  not_started = 10,  ///< a replica, mostly a successor, did not start
  quarantined = 11,  ///< samples that keep crashing workers; before the last `died`
  failed = 12,       ///< a replica reported a failure, which ends the run
  stalled = 13       ///< a call, an opening or the graph is slow, a process is stopped, or
                     ///< the program holds all batches of an output
};

enum class EventLevel : std::int32_t { debug = 0, info = 1, warning = 2, error = 3 };

/// What the run does about a replica that ended.
enum class EventNext : std::int32_t {
  nothing = 0,
  restart = 1,   ///< starts a successor after `delay_ns`
  resume = 2,    ///< restarts all stages from the last checkpoint
  carry_on = 3,  ///< the stage's other replicas take over its work
  fail = 4       ///< ends the run
};

struct EventSample {
  std::uint64_t number = 0;  ///< in the stream through all epochs
  bool placed = false;       ///< the members below are known
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;  ///< in its epoch
  std::uint64_t id = 0;     ///< index in the source
};

struct Event {
  EventKind kind = EventKind::message;
  EventLevel level = EventLevel::info;  ///< debug: not in the console, nor in the log file
  std::int64_t time_ns = 0;             ///< since 1970, UTC
  std::uint64_t lost = 0;               ///< events dropped before this one
  std::string stage = {};               ///< empty: not about a stage
  int replica = -1;                     ///< of the stage; -1: not about a replica
  int pid = 0;                          ///< 0: a thread, or unknown
  int signal = 0;      ///< died: the one that killed it; stopping, ended: stopped the run
  int exit_code = -1;  ///< died: -1 after a signal; ended: of `brigade run`
  EventNext next = EventNext::nothing;  ///< for died, not_started
  int restarts = 0;                     ///< of this replica, counted now
  int restarts_max = 0;                 ///< of `restart:`, within `within_ns`; 0: not used
  std::int64_t within_ns = 0;
  std::int64_t delay_ns = 0;               ///< until the successor starts
  std::optional<EventSample> sample = {};  ///< died: in flight; quarantined: the first one
  int deaths = 0;                          ///< quarantined: workers that the sample crashed
  std::uint64_t samples = 0;               ///< delivered so far; died, quarantined: quarantined
  std::uint64_t epoch = 0;                 ///< counted from 0
  std::int64_t duration_ns = 0;            ///< stalled: so far; ended: of the run; stopping: most
  std::string message = {};                ///< without the name of the stage or replica
  std::string help = {};                   ///< died: what its program should do
  std::string output = {};                 ///< died: its last lines
  std::string reason = {};                 ///< died: why the run ends
};

/// One line.
BRIGADE_API std::string event_text(const Event& event);

inline constexpr std::size_t kEventsWaitingBytesMax = 4 << 20;

/// The events of one run. Copies are handles to the same queue. Any thread; a forked child gets no
/// events.
class BRIGADE_API Events {
 public:
  static Result<Events> open();

  /// The next event. Nothing if the run has ended, or could not start, and all events were read.
  Result<std::optional<Event>> next();
  /// Same, with a timeout, whose error has Refusal::interrupted.
  Result<std::optional<Event>> next_for(std::chrono::nanoseconds timeout);
  /// For poll(): readable when next() would not wait. Owned by this object.
  int descriptor() const;

  struct State;

 private:
  friend class Pipeline;
  explicit Events(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace brigade
