"""Shows the events of a run by Python's logging and passes them to the program; output of stages
goes where the program prints."""

import codecs
import logging
import os
import select
import sys
import threading

from . import _brigade
from ._events import checked, event_of

logger = logging.getLogger("brigade")
_READ_BYTES = 1 << 16


class EventLog:
    """Takes the events of a run, on a thread of its own, and shows them. What the run says goes to
    `logging` with its level: errors, warnings, INFO, and DEBUG for what has no line on a terminal.
    Python shows INFO and DEBUG only where it is configured to. What stages print goes to
    sys.stderr, with the replica's name in front. The streams are Python's: a notebook shows no
    descriptor 2.

    `on_event`: called with each event, by that thread. `told`: of a program that knows no stages:
    gives the event as that program knows it, or None where it is left out; what is printed has no
    name in front. `prints`: a pipe, for workers that tell what is for sys.stdout; it is copied as
    it is.
    """

    def __init__(self, on_event=None, told=None, prints=False):
        self.events = _brigade.Events()
        self._on_event, self._told = checked(on_event), told
        copied, self.prints = os.pipe() if prints else (None, None)
        # A file that is closed twice closes no other that has its descriptor by then.
        self._copied = open(copied, "rb", buffering=0) if prints else None
        self._prints = open(self.prints, "wb", buffering=0) if prints else None
        self._thread = None
        self._ended = threading.Event()

    def begin(self):
        """Called when the run has started."""
        self._thread = threading.Thread(target=self._read, name="brigade-log", daemon=True)
        self._thread.start()

    def close(self):
        """Called when a run is closed, or could not start: returns when everything that it and its
        processes have written was shown. A call interrupted by an exception may be repeated."""
        if self._prints is not None:
            self._prints.close()
        if self._thread is None:
            self._take()
            if self._copied is not None:
                self._copied.close()
        elif self._thread is not threading.current_thread():  # which may have collected the run
            self._thread.join(timeout=1)

    def wait_for_end(self):
        """Called when a run has ended: waits until its last event was shown."""
        self._ended.wait(timeout=1)

    def _read(self):
        poll = select.poll()
        poll.register(self.events, select.POLLIN)
        copy = None if self._copied is None else _Copy(self._copied.fileno())
        if copy:
            poll.register(copy.pipe, select.POLLIN)
        more = True
        while more:
            ready = [descriptor for descriptor, _ in poll.poll()]
            if copy and copy.pipe in ready:
                copy.some()
            more = self._take()
        self._ended.set()
        while copy and copy.some():
            pass
        if copy:
            self._copied.close()

    def _take(self):
        """Reads the available events; False at the end."""
        while raw := self.events.next():
            self._show(event_of(raw))
        return raw is None

    def _show(self, event):
        if event.lost:
            logger.warning("%s events were dropped, because the program did not read them",
                           f"{event.lost:,}")
        if event.kind == "printed":
            _show("stderr", (event.message if self._told else event.text) + "\n")
        event = event if self._told is None else self._told(event)
        if event is None:
            return
        if event.kind not in ("printed", "ended"):
            logger.log(event.level, "%s", event.text)
        if self._on_event is not None:
            try:
                self._on_event(event)
            except Exception:
                logger.exception("on_event raised an exception for: %s", event.text)
        if event.kind == "ended":
            self._ended.set()


class _Copy:
    """Copies a pipe to sys.stdout."""

    def __init__(self, pipe):
        self.pipe = pipe
        os.set_blocking(pipe, False)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def some(self):
        """Copies what is available; False if that is nothing."""
        try:
            data = os.read(self.pipe, _READ_BYTES)
        except BlockingIOError:
            return False
        _show("stdout", self._decoder.decode(data))
        return bool(data)


def _show(name, text):
    """Writes to the current sys.stdout or sys.stderr. A program without one, or with a closed one,
    gets the error when it prints itself."""
    stream = getattr(sys, name)
    try:
        try:
            stream.write(text)
        except UnicodeEncodeError:
            stream.write(text.encode("ascii", "backslashreplace").decode())
        stream.flush()
    except Exception:
        pass
