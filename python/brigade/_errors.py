"""Exceptions."""

import dataclasses
import math
import numbers
import operator


# What code of users raises, which is an error of what it was called for. Libraries raise what is no
# Exception, too: asyncio's CancelledError, a panic of Rust.
OF_USERS = BaseException


def whole(name, value, least, most=None):
    """A whole number as a parameter, also one of NumPy's."""
    expected = f"a whole number from {least} " + ("on" if most is None else f"to {most}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r}: expected {expected}") from None
    if number < least or (most is not None and number > most):
        raise ValueError(f"{name}={number}: expected {expected}")
    return number


def duration_of(name, seconds):
    """Of a parameter, as graphs write it."""
    if isinstance(seconds, bool) or not isinstance(seconds, numbers.Real):
        raise TypeError(f"{name}={seconds!r}: expected a number of seconds")
    if not 0 <= seconds < math.inf:
        raise ValueError(f"{name}={seconds}: expected a number of seconds, 0 or more")
    return f"{round(seconds * 1_000_000_000)}ns"


class Error(RuntimeError):
    """The base of all exceptions of Brigade."""


class NotPicklable(TypeError):
    """An object cannot be sent to workers, or back."""


class RunError(Error):
    """The run could not start, or failed."""


class HeldError(Error):
    """The program holds `hold=` batches, or all slots of a task of an input, and released none
    within `hold_timeout=`; lists where each was taken. The run continues."""


class UnreadError(Error):
    """The next batch comes only after unread batches of another output."""


class BusyError(Error):
    """Another thread is waiting for the next batch of this output."""


class DeviceError(Error):
    """The device does not exist, is out of memory, or was lost: then the process must end."""


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """An error or a warning about a graph, with its place."""

    is_error: bool
    file: str  #: as it was given; "--set" for what was set; empty: no place
    line: int  #: from 1; 0: it is about all of `file`
    column: int  #: from 1, in characters
    source: str  #: that line of the file
    message: str  #: what was expected and found
    help: str  #: what to do, or empty

    def __str__(self):
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        kind = "error" if self.is_error else "warning"
        lines = [f"{place}: {kind}: {self.message}" if place else f"{kind}: {self.message}"]
        if self.source:
            lines += ["  | " + self.source, "  | " + " " * (self.column - 1) + "^"]
        lines += ["  = " + line for line in self.help.splitlines()]
        return "\n".join(lines)


class GraphError(Error, ValueError):
    """Errors in a graph: `diagnostics` has each with its place.

    >>> import brigade
    >>> try:
    ...     brigade.Loader("stages: {a: {producer: synthetik}, b: {consumer: count, from: a}}")
    ... except brigade.GraphError as error:
    ...     print(error.diagnostics[0].message)
    stage "a": unknown producer "synthetik"
    """

    def __init__(self, message, diagnostics=()):
        super().__init__(message, list(diagnostics))
        self.message = message
        self.diagnostics = list(diagnostics)

    def __str__(self):
        errors = [str(one) for one in self.diagnostics if one.is_error]
        if not errors:
            return self.message
        return "\n\n".join([f"{len(errors)} mistake{'s'[:len(errors) > 1]} in the graph", *errors])


_EXCEPTIONS = {-1: ValueError, -2: GraphError, -3: RunError, -4: HeldError, -5: UnreadError,
               -6: BusyError, -7: MemoryError, -9: KeyboardInterrupt, -10: DeviceError}


def exception_of(status, message, diagnostics):
    """For the C module: of a status of c.h."""
    kind = _EXCEPTIONS.get(status, Error)
    if kind is GraphError:
        return GraphError(message, [Diagnostic(*one) for one in diagnostics or ()])
    return kind(message)
