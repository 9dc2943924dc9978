"""Locks, queues and shared values of multiprocessing in data for workers of the server:
multiprocessing passes them only to a process that is being spawned, and workers receive them the
same way."""

import contextlib
import fcntl
import os
import stat
import sys

from ._errors import NotPicklable

_OURS = ("multiprocessing.heap", "multiprocessing.sharedctypes", "multiprocessing.connection")


class _Handed:
    """A descriptor of the program; a worker calls detach()."""

    def __init__(self, descriptor):
        mode = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE
        self._path, self._mode = f"/proc/{os.getpid()}/fd/{descriptor}", mode

    def detach(self):
        return os.open(self._path, self._mode)


class _Spawned:
    """Stands in for multiprocessing's process. `kept`: descriptors that stay open for it."""

    DupFd = _Handed

    def __init__(self, kept):
        self._kept = kept

    def duplicate_for_child(self, descriptor):
        if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            raise NotPicklable("a connection over a socket cannot be sent to workers; create it "
                               "with multiprocessing.Pipe(duplex=False)")
        self._kept.append(os.dup(descriptor))
        return self._kept[-1]


@contextlib.contextmanager
def spawning(kept):
    """In this context, objects are pickled for a worker."""
    context = sys.modules.get("multiprocessing.context")
    if context is None:
        yield
        return
    before = context.get_spawning_popen()
    context.set_spawning_popen(_Spawned(kept))
    try:
        yield
    finally:
        context.set_spawning_popen(before)


def reduce(thing):
    """Reduces objects that multiprocessing pickles by its own reducers; None for all others."""
    locks = sys.modules.get("multiprocessing.synchronize")
    if locks is not None and isinstance(thing, locks.SemLock) and \
            thing._semlock.name is None:
        raise NotPicklable(f"only forks of the program can use this {type(thing).__name__} of "
                           "multiprocessing; create it, or the object that contains it, with "
                           "multiprocessing.get_context('spawn')")
    reduction = sys.modules.get("multiprocessing.reduction")
    reducer = reduction and reduction.ForkingPickler._extra_reducers.get(type(thing))
    return reducer(thing) if getattr(reducer, "__module__", None) in _OURS else None
