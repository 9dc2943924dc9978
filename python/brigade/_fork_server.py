"""A forker that is a separate program, started by _forker.Server with the libraries that the
program has imported; for programs that should not be forked."""

import importlib
import json
import os
import socket
import sys
import types

from . import _data_worker
from ._forking import Forker


def main(control, parent):
    control = socket.socket(fileno=control)
    forker = Forker(parent, _data_worker.main)
    with open(int(control.recv(64)), "rb") as file:
        about = json.load(file)
    sys.path[:], sys.argv[:] = about["path"], about["argv"]
    sys.modules["__main__"] = types.ModuleType("__main__")  # what started this is not the program
    shown = os.dup(1), os.dup(2)
    null = os.open("/dev/null", os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    for name in about["modules"]:
        try:
            importlib.import_module(name)
        except Exception:  # who needs it imports it, and says why
            pass
    for place, fd in zip((1, 2), shown):
        os.dup2(fd, place)
        os.close(fd)
    forker.leave_threads()
    forker.listen(control)
    forker.run()
    os._exit(0)
