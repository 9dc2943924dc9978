"""Setup of multiprocessing in a forked child, for processes that multiprocessing did not fork."""

import itertools
import os
import sys


def _modules():
    """Modules of multiprocessing, or None if they are not imported: then nothing here uses them."""
    return (sys.modules.get(f"multiprocessing.{name}") for name in ("process", "util"))


def begin(parent, title):
    """Makes the program's locks, queues and manager proxies belong to this process. It must not end
    the program's children or remove its temporary files."""
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
    """True if end() has work to do."""
    _, util = _modules()
    return util is not None and bool(util._finalizer_registry)


def end():
    """Sends the contents of queues, and removes temporary files created here."""
    _, util = _modules()
    if util is not None:
        util._exit_function()
