"""Lines of a run go to Python's logging, and what its stages print where the program prints."""

import codecs
import contextlib
import logging
import os
import re
import select
import sys
import threading

logger = logging.getLogger("brigade")
_END = b"\0"  # a line that no run writes: its text is printable
_LEVELS = {"error: ": logging.ERROR, "warning: ": logging.WARNING}
_REPLICA = re.compile(r"[\w-]+\.\d+: ")  # in front of what one has printed
_READ_BYTES = 1 << 16


class LogPipe:
    """What a run writes to, and the thread that hands its lines on. What the run says goes to
    `logging`: errors and warnings with their levels, all else as INFO, which Python shows only
    where it is configured to. What stages print goes to sys.stderr, with the replica's name in
    front. The streams are Python's: a notebook shows no descriptor 2.

    `told`: of a program that knows no stages: what becomes of a line of the run, or None where it
    is left out; what is printed has no name in front. `prints`: a second pipe, for workers that
    tell what is for sys.stdout; it is copied as it is.
    """

    def __init__(self, told=None, prints=False):
        reads, self.writes = os.pipe()
        copies, self.prints = os.pipe() if prints else (None, None)
        # A file that is closed twice closes no other that has its descriptor by then.
        self._end = open(self.writes, "wb", buffering=0)
        self._prints = open(self.prints, "wb", buffering=0) if prints else None
        self._process = os.getpid()
        self._thread = threading.Thread(target=_read, args=(reads, told, copies),
                                        name="brigade-log", daemon=True)
        self._thread.start()

    def close(self):
        """Of a run that is closed: all that it and its processes have written has been shown when
        this returns. It does not wait for the end of the pipe, which a child that was forked
        meanwhile has open, too. A call that an exception interrupted may be repeated."""
        if not self._end.closed and os.getpid() == self._process:  # a child's pipe is the parent's
            with contextlib.suppress(BrokenPipeError):  # an interrupted call has written it
                self._end.write(_END + b"\n")
        self._end.close()
        if self._prints is not None:
            self._prints.close()
        if threading.current_thread() is not self._thread:  # which may have collected the run
            self._thread.join(timeout=1)


class _Copy:
    """Of what lies in a pipe, on sys.stdout."""

    def __init__(self, pipe):
        self.pipe = pipe
        os.set_blocking(pipe, False)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def some(self):
        """False: there is nothing now."""
        try:
            data = os.read(self.pipe, _READ_BYTES)
        except BlockingIOError:
            return False
        _show("stdout", self._decoder.decode(data))
        return bool(data)


def _read(log, told, prints):
    poll = select.poll()
    poll.register(log, select.POLLIN)
    copy = None if prints is None else _Copy(prints)
    if copy:
        poll.register(prints, select.POLLIN)
    lines, rest = [], b""
    while _END not in lines:
        ready = [descriptor for descriptor, _ in poll.poll()]
        if prints in ready:
            copy.some()
        if log in ready:
            data = os.read(log, _READ_BYTES)
            if not data:  # the pipe was dropped without close()
                break
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                _log(line.decode("utf-8", "replace"), told)
    while copy and copy.some():
        pass
    os.close(log)
    if copy:
        os.close(prints)


def _log(line, told):
    if line == _END.decode():
        return
    replica = _REPLICA.match(line)
    if replica:
        _show("stderr", (line[replica.end():] if told else line) + "\n")
        return
    text = line.removeprefix("brigade: ")
    if told and (text := told(text)) is None:
        return
    for start, level in _LEVELS.items():
        if text.startswith(start):
            logger.log(level, "%s", text.removeprefix(start))
            return
    logger.info("%s", text)


def _show(name, text):
    """On sys.stdout or sys.stderr, whatever stands for it now. A program without one, or whose
    reader has gone, hears of that when it prints itself."""
    stream = getattr(sys, name)
    try:
        try:
            stream.write(text)
        except UnicodeEncodeError:
            stream.write(text.encode("ascii", "backslashreplace").decode())
        stream.flush()
    except Exception:
        pass
