"""Lines of a run in Python's logging: notebooks show no descriptor 2."""

import logging
import os
import threading

logger = logging.getLogger("brigade")
_END = "\0"  # a line that no run writes: its text is printable
_LEVELS = {"error: ": logging.ERROR, "warning: ": logging.WARNING}


class LogPipe:
    """What a run writes to, and the thread that hands its lines to `logging`. Errors and warnings
    have their levels there, all else is INFO, which Python shows only where it is configured to."""

    def __init__(self):
        reads, self.writes = os.pipe()
        self._thread = threading.Thread(target=_read, args=(reads,), name="brigade-log",
                                        daemon=True)
        self._thread.start()

    def close(self):
        """Of a run that is closed: its last line has been logged when this returns. It does not
        wait for the end of the pipe, which a child that was forked meanwhile has open, too."""
        with os.fdopen(self.writes, "w") as end:
            end.write(_END + "\n")
        self._thread.join(timeout=1)


def _read(descriptor):
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as lines:
        for line in iter(lines.readline, _END + "\n"):
            _log(line.rstrip("\n"))


def _log(line):
    text = line.removeprefix("brigade: ")
    for start, level in _LEVELS.items():
        if text.startswith(start):
            logger.log(level, "%s", text.removeprefix(start))
            return
    logger.info("%s", text)
