"""An exception between any two lines of a loader (Ctrl-C, PyThreadState_SetAsyncExc): it comes once
at a line of the package that a program runs."""

import os
import sys

import brigade

PACKAGE = os.path.dirname(brigade.__file__)
TESTS = os.path.dirname(__file__)


class Interrupt(BaseException):
    pass


class Lines:
    """Traces the lines of the package and of the tests' generators in this thread. Raises when
    `at`, a line, comes for the `nth` time; else it collects lines, with how often they came."""

    def __init__(self, at=None, nth=1):
        self.at, self.nth, self.came, self.raised = at, nth, {}, False
        self.process = os.getpid()  # forks inherit the trace

    def __enter__(self):
        sys.settrace(self._call)
        return self

    def __exit__(self, *_):
        sys.settrace(None)

    def _call(self, frame, event, argument):
        name = frame.f_code.co_filename
        own = os.path.dirname(name) == TESTS and frame.f_code.co_name == "__iter__"
        return self._line if own or os.path.dirname(name) == PACKAGE else None

    def _line(self, frame, event, argument):
        if event == "line" and not self.raised and os.getpid() == self.process:
            line = os.path.basename(frame.f_code.co_filename), frame.f_lineno
            self.came[line] = self.came.get(line, 0) + 1
            if line == self.at and self.came[line] == self.nth:
                self.raised = True
                raise Interrupt
        return self._line


def again(call, on_interrupt=lambda: None):
    """As a user does in a notebook: what was interrupted is called once more."""
    try:
        return call()
    except Interrupt:
        on_interrupt()
        return call()


def untraced(call):
    trace = sys.gettrace()
    sys.settrace(None)
    try:
        return call()
    finally:
        sys.settrace(trace)
