"""Events of a run, as values."""

import typing

_KINDS = ("message", "progress", "logged", "printed", "running", "epoch", "stopping", "ended",
          "died", "restarted", "not_started", "quarantined", "failed", "stalled")
_LEVELS = (10, 20, 30, 40)  # of logging, from DEBUG to ERROR
_NEXT = (None, "restart", "resume", "carry_on", "fail")


class Event(typing.NamedTuple):
    """Something that happened in a run: the argument of `on_event`.

    `kind`: "died", "restarted", "not_started", "quarantined", "failed", "stalled", "epoch",
    "running", "stopping", "ended", "progress", "logged", "printed", or "message" for a note, a
    warning or an error that has only text. `level`: as in logging. `text`: the line for people;
    programs read the other fields. Fields that a kind does not have are None, 0 or "".
    docs/PYTHON.md lists the fields of each kind.
    """

    kind: str
    level: int
    time: float  # seconds since 1970
    lost: int  # events before this one that were dropped, since the program did not take them
    stage: str
    text: str
    message: str
    output: str  # died: the last lines of the worker
    reason: str  # died: why the run ends
    replica: int | None
    pid: int
    signal: int  # died: what killed the worker; stopping, ended: what stopped the run
    exit_code: int | None  # died: of the worker; ended: of the run
    next: str | None  # died, not_started: "restart", "resume", "carry_on" or "fail"
    restarts: int
    restarts_max: int
    deaths: int  # quarantined: workers that the sample has ended
    within: float  # seconds in which `restarts_max` count
    delay: float  # seconds until the successor is started
    duration: float  # seconds
    sample: int | None  # died: in flight; quarantined: the first one
    sample_epoch: int | None
    sample_index: int | None
    sample_id: int | None
    samples: int  # delivered so far; died, quarantined: put into quarantine
    epoch: int


def checked(on_event):
    """As a parameter."""
    if on_event is not None and not callable(on_event):
        raise TypeError(f"on_event={on_event!r}: expected a function that takes an Event")
    return on_event


def event_of(raw):
    """`raw`: of Events.next()."""
    kind, level, time, lost, stage, text, message, output, reason, replica, pid, signal, code, \
        after, restarts, restarts_max, deaths, within, delay, duration, *rest = raw
    kind = _KINDS[kind] if kind < len(_KINDS) else "message"
    return Event(kind, _LEVELS[level], time / 1e9, lost, stage, text, message, output, reason,
                 None if replica < 0 else replica, pid, signal, None if code < 0 else code,
                 _NEXT[after], restarts, restarts_max, deaths, within / 1e9, delay / 1e9,
                 duration / 1e9, *rest)
