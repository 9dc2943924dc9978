"""What multiprocessing does in a child that it has forked, for a process that it has not."""

import itertools
import os
import sys


def _modules():
    """None where nothing has imported them: then nothing here is of multiprocessing."""
    return (sys.modules.get(f"multiprocessing.{name}") for name in ("process", "util"))


def begin(parent, title):
    """Locks, queues, and proxies of managers that the program has used become this process's own.
    The program's children and temporary files are not its to end."""
    process, util = _modules()
    if util is None:
        return
    program = process.current_process()
    process._children, process._process_counter = set(), itertools.count(1)
    process._current_process = process.BaseProcess(name=title)
    process._current_process._parent_pid = parent
    process._parent_process = process._ParentProcess(program.name, parent, os.pidfd_open(parent))
    util._finalizer_registry.clear()
    util._run_after_forkers()


def must_end():
    """Whether end() has something to do."""
    _, util = _modules()
    return util is not None and bool(util._finalizer_registry)


def end():
    """What lies in queues is sent, and what was made here is removed."""
    _, util = _modules()
    if util is not None:
        util._exit_function()
