"""Sources of the workers of a DataLoader, in the program: a fork of the program, made when an
iterator begins (ForkOfProgram), or a server with the same libraries, kept for all loaders.
docs/decisions/python_data_loader.md says why there are two."""

import atexit
import gc
import glob
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref

from . import _brigade, _forking
from ._arena import memory_file
from ._log import logger

_LOOKS_SECONDS = [0.002] * 5 + [0.03] * 25  # between two looks for threads that rest
_ANSWER_SECONDS = 0.05  # for a run that waits for a worker
_LOST_SECONDS = 1  # for workers that end
_REFUSED_MAX = 5  # looks, of most of a second
_DEATHS_MAX = 3  # of the server, one after another
_SOON_SECONDS = 1  # after its start
_DEVICES = re.compile(r"/dev/(nvidia-uvm$|nvidia\d|kfd$|accel|dri/render|davinci|habanalabs)")

_open = weakref.WeakSet()


@atexit.register
def _close_all():
    """Called before runs are closed, which wait for workers that are being started."""
    for forker in list(_open):
        forker.close()


# --- may the program be forked? -------------------------------------------------------------------

def why_no_fork():
    """Why a fork of the program could hang or fail, as a clause; None if it is safe."""
    if threading.current_thread() is not threading.main_thread():
        return f"the thread {threading.current_thread().name!r} iterates, not the main thread"
    return _device_in_use() or _busy_thread()


def _device_in_use():
    torch = sys.modules.get("torch")
    for name in ("cuda", "xpu", "mtia", "npu", "hpu"):
        is_initialized = getattr(getattr(torch, name, None), "is_initialized", None)
        if is_initialized is not None and is_initialized():
            return f"torch.{name} is initialized"
    bridge = sys.modules.get("jax._src.xla_bridge")
    if getattr(bridge, "_backends", None):
        return "JAX is initialized"
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue  # that of the listing
        if _DEVICES.match(target):
            return f"the program has opened {target}"
    return None


def _busy_thread():
    """Finds a busy thread. A thread that sleeps during several looks waits for work, as in pools of
    OpenMP, OpenBLAS and gloo, progress bars and loggers. It holds no short lock, such as the locks
    of allocators, and no GIL, which was free between the looks."""
    own, before = str(threading.get_native_id()), {}
    for seconds in _LOOKS_SECONDS:
        now = {name: _rest_of(name) for name in os.listdir("/proc/self/task") if name != own}
        awake = [name for name, rest in now.items() if rest is None or before.get(name) != rest]
        if not awake:
            return None
        before = now
        time.sleep(seconds)
    names = {str(thread.native_id): thread.name for thread in threading.enumerate()}
    return f"the thread {names.get(awake[0]) or _name_of(awake[0])!r} is busy"


def _rest_of(task):
    """Number of its context switches if it sleeps; otherwise None."""
    try:
        with open(f"/proc/self/task/{task}/status", encoding="ascii", errors="replace") as file:
            text = file.read()
    except OSError:
        return "ended"
    return text[text.rindex("voluntary_ctxt_switches:", 0, text.rindex("nonvoluntary")):] \
        if "\nState:\tS" in text else None


def _name_of(task):
    try:
        with open(f"/proc/self/task/{task}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return task


# --- forkers --------------------------------------------------------------------------------------

class _Sockets:
    """Both ends of a socket pair, so that the successor of a killed forker uses the same ones."""

    def __init__(self):
        self.process = os.getpid()
        self._ours, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.descriptor = self._ours.fileno()  # for the run
        self._closed = False
        _open.add(self)

    def descriptors(self):
        return self._ours.fileno(), self._theirs.fileno()

    def is_stopped(self):
        return self._closed

    def stop(self):
        """Stops starting workers: later requests fail. The run ends workers that are running."""
        if self._closed or self.process != os.getpid():
            return
        self._closed = True
        _open.discard(self)
        self._end_forker()
        try:
            self._theirs.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # its other end is closed
        self._ours.close()
        self._theirs.close()

    def close(self):
        """Called after the run; leaves no process behind."""
        self.stop()
        if self.process == os.getpid():
            self._collect()

    def __del__(self):
        if hasattr(self, "_closed"):
            self.close()

    def _end_forker(self):
        pass

    def _collect(self):
        pass


class ForkOfProgram(_Sockets):
    """Forked by the thread that iterates, so that workers inherit the state of that thread
    (no_grad(), the context). `work` is the function of the workers, with all data of the
    program."""

    def __init__(self, workers, work):
        super().__init__()
        self._work, self._pid, self._refused = work, None, 0
        self._fork(workers)  # so many at once, while the run begins

    def _fork(self, ahead):
        for stream in {sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__}:
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                pass  # there is none, or its reader has gone
        parent = os.getpid()
        pid = _brigade.fork()
        if pid == 0:
            self._be_one(parent, ahead)
        self._pid = pid

    def _be_one(self, parent, ahead):
        status = 1
        gc.disable()
        try:
            _forking.forget_runs({fd for one in _open if one.process == parent
                                  for fd in one.descriptors()} - {self._theirs.fileno()})
            forker = _forking.Forker(parent, self._work)
            forker.add(self._theirs)
            forker.fork_ahead(ahead)
            forker.run()
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status)  # nothing of the program ends here

    def look(self):
        """Called while a batch is awaited: replaces a killed forker. RuntimeError if it cannot be
        replaced and a worker is missing."""
        if self._pid is not None:
            self._how = _how_ended(self._pid)
            if self._how is None:
                return
            _collect_lost(self._pid)
            self._pid = None
            self._theirs.send(b"hello")  # a worker that is missing is asked for again
        if not _is_readable(self._theirs, _ANSWER_SECONDS):
            return  # none is
        why = why_no_fork()
        if why is None:
            logger.warning("DataLoader: the process that forks workers %s; a new one replaces it",
                           self._how)
            self._fork(0)
            return
        self._refused += 1  # a thread may be busy for a moment
        if self._refused == _REFUSED_MAX:
            raise RuntimeError(
                f"the process that forks workers of the DataLoader {self._how}, and the program "
                f"cannot be forked again: {why}. Call iter() to restart the workers")

    def _end_forker(self):
        if self._pid is not None and _how_ended(self._pid) is None:
            os.kill(self._pid, signal.SIGKILL)
        else:
            self._pid = None

    def _collect(self):
        pid, self._pid = self._pid, None
        if pid is None:
            return
        try:
            os.waitpid(pid, 0)
        except ChildProcessError:
            pass  # the program has waited for all its children
        _collect_lost(pid)


def _how_ended(pid):
    """How the process ended, and collects it; None if it is running."""
    try:
        ended, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return "has ended"
    if ended == 0:
        return None
    code = os.waitstatus_to_exitcode(status)
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


def _is_readable(sock, seconds):
    return bool(select.select([sock], [], [], seconds)[0])


def _collect_lost(forker):
    """Collects workers that no run knows: they end with their killed forker and are in its process
    group."""
    until = time.monotonic() + _LOST_SECONDS
    while (lost := [pid for pid in _children() if _group_of(pid) == forker]) and \
            time.monotonic() < until:
        for pid in lost:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass
        time.sleep(_LOOKS_SECONDS[0])


def _children():
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/children", encoding="ascii") as file:
                yield from map(int, file.read().split())
        except OSError:
            continue  # that thread has ended


def _group_of(pid):
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


# --- the server -----------------------------------------------------------------------------------

_PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__init__.py")
# This package by its file: in PYTHONPATH, site-packages would be in front of the standard library.
_BEGIN = """import importlib.util, sys
spec = importlib.util.spec_from_file_location("brigade", sys.argv[1])
sys.modules["brigade"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["brigade"])
from brigade._fork_server import main
main(*map(int, sys.argv[2:]))
"""

_server = None
_server_lock = threading.Lock()


def server():
    """The server of this process, started by the first call."""
    global _server
    with _server_lock:
        if _server is None or _server.process != os.getpid():
            _server = Server()
        return _server


def needs_server_soon():
    """True if the program probably cannot be forked later, because its model moves to a device."""
    return bool(glob.glob("/dev/nvidia[0-9]*") or os.path.exists("/dev/kfd")) or \
        _device_in_use() is not None


class Server:
    """The fork server. A thread that lives as long as the program starts it: the kernel ends the
    server and its workers with that thread. The thread restarts a killed server."""

    def __init__(self):
        self.process = os.getpid()
        self.failed = None  # a text
        self._lock = threading.Lock()
        self._clients, self._control = weakref.WeakSet(), None
        self.pid = None
        threading.Thread(target=self._keep, name="brigade-server", daemon=True).start()

    def _keep(self):
        deaths = 0
        while deaths < _DEATHS_MAX:
            began = time.monotonic()
            control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            about = _about()
            with theirs, open(about, "rb"):
                process = subprocess.Popen(
                    [*command(), "-c", _BEGIN, _PACKAGE, str(theirs.fileno()),
                     str(os.getpid())], stdin=subprocess.DEVNULL, env=_environment(),
                    pass_fds=(theirs.fileno(), about))
                control.send(b"%d" % about)
            with self._lock:
                self._control, self.pid = control, process.pid
                for client in list(self._clients):
                    client.connect(control)
            process.wait()
            with self._lock:
                self._control = None
                control.close()
            deaths = deaths + 1 if time.monotonic() - began < _SOON_SECONDS else 0
            logger.warning("DataLoader: the server that forks workers ended with code %d and is "
                           "restarted", process.returncode)
        self.failed = (f"the server that forks workers of the DataLoader ({process.args[0]}) "
                       f"ends immediately with code {process.returncode}")

    def add(self, client):
        with self._lock:
            self._clients.add(client)
            if self._control is not None:
                client.connect(self._control)


class ForkOfServer(_Sockets):
    """The workers of one run."""

    def __init__(self, of):
        super().__init__()
        self._server = of
        of.add(self)

    def connect(self, control):
        """Connects the run, unless it is closed, as garbage collection may do on any thread."""
        if self._closed:
            return
        try:
            socket.send_fds(control, [b"run"], [self._theirs.fileno()])
        except OSError:
            pass  # it was killed just now

    def look(self):
        if self._server.failed is not None:
            raise RuntimeError(self._server.failed)


def command():
    """The command that starts this interpreter."""
    if not sys.executable:
        raise RuntimeError("cannot start workers, because sys.executable is not set")
    return [sys.executable, *subprocess._args_from_interpreter_flags(), "-P"]


def _environment():
    """The environment of the server: libraries get one thread, so that a fork loses none."""
    return {**os.environ, **{f"{of}_NUM_THREADS": "1" for of in ("OMP", "MKL", "OPENBLAS")}}


def _about():
    """A descriptor with data for the server: the imported libraries, in order, if they are
    installed; modules of the program itself may have side effects on import."""
    installed = [name for name, module in list(sys.modules.items())
                 if re.search(r"/(site|dist)-packages/", getattr(module, "__file__", None) or "")
                 and not name.startswith("brigade")]
    text = json.dumps({"path": [str(entry) for entry in sys.path], "argv": sys.argv,
                       "modules": sorted(installed, key=lambda name: name != "torch")}).encode()
    descriptor = memory_file("brigade-imports", len(text))
    os.pwrite(descriptor, text, 0)
    return descriptor
