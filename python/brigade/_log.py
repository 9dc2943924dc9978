"""Lines of a run in Python's logging: notebooks show no descriptor 2."""

import logging
import os
import threading

logger = logging.getLogger("brigade")
_LEVELS = {"error: ": logging.ERROR, "warning: ": logging.WARNING}


class LogPipe:
    """What a run writes to, and the thread that hands its lines to `logging`. Errors and warnings
    have their levels there, all else is INFO, which Python shows only where it is configured to."""

    def __init__(self):
        self._reads, self.writes = os.pipe()
        self._thread = threading.Thread(target=self._read, name="brigade-log", daemon=True)
        self._thread.start()

    def _read(self):
        with os.fdopen(self._reads, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                _log(line.rstrip("\n"))

    def started(self):
        """The run has its copy: when that one is closed, there are no more lines."""
        os.close(self.writes)

    def join(self):
        """Until the last line of a run that is closed has been logged."""
        self._thread.join(timeout=1)


def _log(line):
    text = line.removeprefix("brigade: ")
    for start, level in _LEVELS.items():
        if text.startswith(start):
            logger.log(level, "%s", text.removeprefix(start))
            return
    logger.info("%s", text)
