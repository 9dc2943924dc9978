"""The forker: the process that forks each worker of a DataLoader at the request of the run
(pipeline/run/launch/forked_runner.h describes it). It has one thread. The program is its parent,
and becomes the parent of the workers, too."""

import array
import gc
import os
import select
import signal
import socket
import sys
import traceback

from . import _brigade, _child

_PACKET_BYTES = 4096
_FDS_MAX = 253  # of a packet
_GO = b"g"
_NAMES = ("/memfd:brigade-control", "/memfd:brigade-plan", "/memfd:brigade-ring",
          "/memfd:brigade-batches", "/memfd:brigade-dataset", "/memfd:brigade-request",
          "anon_inode:[pidfd]")
NAME = "brigade-forker"  # of forkers, and of workers that have not begun


def receive(sock):
    """(bytes, descriptors) of a packet; without bytes at the end."""
    fds = array.array("i")
    text, beside, _, _ = sock.recvmsg(_PACKET_BYTES, socket.CMSG_SPACE(_FDS_MAX * fds.itemsize),
                                      socket.MSG_CMSG_CLOEXEC)
    for level, kind, data in beside:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[:len(data) - len(data) % fds.itemsize])
    return text, list(fds)


class Forker:
    """`work` is the function of the workers. run() ends with the program."""

    def __init__(self, parent, work):
        self._parent, self._work = parent, work
        self._answered = {}  # by socket: the number of the last request
        self._poll = select.poll()
        self._sockets = {}
        self._control = None
        self._ahead = []  # workers without a request
        self._missing = 0  # of those
        _begin_process(parent)
        self.leave_threads()
        gc.freeze()  # workers share the memory of what there is, and end none of it
        gc.enable()

    def add(self, sock):
        """Adds a socket that receives requests."""
        self._sockets[sock.fileno()] = sock
        self._poll.register(sock, select.POLLIN)
        self._answered[sock.fileno()] = 0
        self._tell(sock, b"hello")

    def listen(self, control):
        """Adds a socket that receives other sockets."""
        self._control = control
        self._poll.register(control, select.POLLIN)

    def run(self):
        while self._sockets or self._control:
            ready = self._poll.poll(0 if self._missing else None)
            if not ready:
                self._fork_ahead()
            for fd, _ in ready:
                if self._control is not None and fd == self._control.fileno():
                    text, fds = receive(self._control)
                    if not text:
                        return
                    self.add(socket.socket(fileno=fds[0]))
                elif fd in self._sockets:
                    self._serve(self._sockets[fd])

    def _serve(self, sock):
        try:
            text, fds = receive(sock)
        except ConnectionError:
            text, fds = b"", []
        try:
            if not text:
                self._drop(sock)
            elif int(text) > self._answered[sock.fileno()]:  # else it was asked twice
                self._answered[sock.fileno()] = int(text)
                self._fork(sock, text, fds)
        finally:
            for fd in fds:
                os.close(fd)

    def _drop(self, sock):
        self._poll.unregister(sock)
        del self._sockets[sock.fileno()], self._answered[sock.fileno()]
        sock.close()

    @staticmethod
    def leave_threads():
        """Lets libraries not wait for threads of the program, which do not exist here."""
        torch = sys.modules.get("torch")
        if torch is not None:
            torch.set_num_threads(1)  # takes milliseconds, and workers need not

    def fork_ahead(self, count):
        """Keeps this many workers ready: they are forked while no request waits."""
        self._missing = count

    def _fork_ahead(self):
        self._missing -= 1
        try:
            self._ahead.append(self._clone())
        except OSError:
            self._missing = 0  # a request for it says why

    def _fork(self, sock, number, fds):
        try:
            if not self._ahead:
                self._missing = max(self._missing - 1, 0)
            pid, pidfd, worker = self._ahead.pop(0) if self._ahead else self._clone()
        except OSError as error:
            self._tell(sock, b"failed %s cannot fork a worker: %s; raise the limit on processes"
                             b" (`ulimit -u`, the cgroup's pids.max)"
                             % (number, os.fsencode(error.strerror)))
            return
        self._tell(worker, b"request", fds)
        self._tell(sock, b"started %s %d" % (number, pid), [pidfd, worker.fileno()])
        os.close(pidfd)
        worker.close()

    def _clone(self):
        """Forks a worker: its pid, its pidfd, and a socket to it."""
        there, here = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with there:
            pid, pidfd = _brigade.clone()
            if pid == 0:
                here.close()
                self._become_worker(there)
        return pid, pidfd, here

    @staticmethod
    def _tell(sock, text, fds=()):
        try:
            socket.send_fds(sock, [text], fds, socket.MSG_NOSIGNAL)
        except OSError:
            pass  # the program has gone, or the run

    def _become_worker(self, orders):
        """Waits for a byte of the run after the request: without it, the run does not know
        this process."""
        status = 1
        try:
            _brigade.end_with(self._parent)
            for _, pidfd, worker in self._ahead:  # they end where nobody has their sockets
                os.close(pidfd)
                worker.close()
            _, fds = receive(orders)
            if orders.recv(1) != _GO:
                os._exit(0)
            os.setpgid(0, 0)
            for sock in (orders, self._control, *self._sockets.values()):
                if sock is not None:
                    os.close(sock.detach())
            _child.begin(self._parent, take_request(fds))
            self._work()
            _child.end()
            status = 0
        except SystemExit as leave:
            status = leave.code if isinstance(leave.code, int) else 1
        except BaseException:
            traceback.print_exc()
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(status)  # nothing of the program ends here


def _begin_process(parent):
    """Enters a separate process group, which Ctrl-C does not reach, without the program's handlers.
    Workers stay in it until they begin."""
    os.setpgid(0, 0)
    _brigade.end_with(parent)
    _brigade.set_title("brigade: DataLoader", NAME)
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        try:
            signal.signal(number, signal.SIG_DFL)
        except (OSError, ValueError):
            pass  # SIGKILL and SIGSTOP
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # as Python has it
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)


def take_request(fds):
    """Applies the settings that a ProcessRunner passes to a program. Returns the process's
    title."""
    with open(fds[0], "rb", closefd=False) as file:
        file.seek(0)
        title, folder, cpus, kept, *environment = file.read().split(b"\0")[:-1]
    os.dup2(fds[1], 1)
    os.dup2(fds[1], 2)
    for name, fd in (("stdout", 1), ("stderr", 2)):
        setattr(sys, name, _stream(getattr(sys, f"__{name}__"), fd))
    if cpus:
        os.sched_setaffinity(0, map(int, cpus.split(b",")))
    if folder:
        os.chdir(folder)
    os.environb.clear()
    for name, _, value in (entry.partition(b"=") for entry in environment):
        if name:
            os.environb[name] = value
    os.environ["BRIGADE_MOVED_DESCRIPTORS"] = ",".join(
        f"{there}={here}" for there, here in zip(kept.decode().split(","), fds[2:]))
    title = os.fsdecode(title).replace("workers.", "DataLoader.")
    _brigade.set_title(title, title)
    for fd in fds[:2]:
        os.close(fd)
    return title


def _stream(own, fd):
    """The program's stream for this descriptor; handlers of its loggers use it, too."""
    try:
        if own.fileno() == fd:
            own.reconfigure(encoding="utf-8", line_buffering=True, write_through=False)
            return own
    except (AttributeError, OSError, ValueError):
        pass  # there is none, or it was closed
    return open(fd, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)


def forget_runs(others):
    """Replaces descriptors of the program's runs, which would keep their memory; `others`: more of
    them. Their numbers stay taken, because inherited objects may close them."""
    null = os.open("/dev/null", os.O_RDWR)
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        try:
            if fd in others or os.readlink(f"/proc/self/fd/{fd}").startswith(_NAMES):
                os.dup2(null, fd, inheritable=False)
        except OSError:
            continue  # that of the listing
    os.close(null)
