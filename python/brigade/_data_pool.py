"""The workers of a DataLoader: a run with one stage, whose replicas are forks of the program or of
a server. The graph carries only words that tell where a task or a batch is in the arena."""

import collections
import os
import pickle
import struct
import sys
import threading
import time

from . import _graph, _pickling
from ._arena import STRIDE, Arena, MemoryFile
from ._brigade import Mapping
from ._data_events import told_of
from ._data_fetch import has_state
from ._data_layout import Reader, parts as parts_of
from ._errors import RunError
from ._forker import ForkOfProgram, ForkOfServer, server, why_no_fork
from ._log import EventLog, logger
from ._run import ANY_EPOCH, Run

WORDS = struct.Struct("2q")  # offset of the block (-1: nothing to do), bytes of the task
OF_EPOCH = struct.Struct("q")  # bytes of what tasks of an epoch have in common: a task's begin
ANSWER = struct.Struct("6q")  # the task's offset, kind, table, entries, bytes of the pickle, end
NOTHING, BATCH, TENSORS, ENDED, ERROR = range(5)
MUST_END = 8  # beside one of those: the worker has something to do when it ends
_HERE = ("DataLoader", 0)  # place of calls, in messages that users do not see
_DEATHS_MAX = 3  # of workers by one batch
_LOOK_SECONDS = 0.2  # for a forker that was killed, while no batch comes
_IDLE_SECONDS = 1.0  # for room in a graph that has nothing to do

_ANEW = ("; it calls worker_init_fn again, so its random numbers may differ from a run without a "
         "restart")
_END = "5s"  # for what workers have to do at the end
_AHEAD = 64  # tasks that the graph has room for behind one that takes long

Task = collections.namedtuple("Task", "owner block worker turn name number")


_warned = set()  # of what, once in a program


def _name_long_list(parts):
    found = None if "a long list" in _warned else _pickling.long_list(parts)
    if found is not None:
        _warned.add("a long list")
        name, thing = found
        logger.warning("DataLoader: %s is a %s of %s strings, which each worker copies; use "
                       "brigade.shared(%s) to keep one copy for all workers", name,
                       type(thing).__name__, f"{len(thing):,}", name)


class Payload:
    """Data that workers need in addition to their tasks, pickled into a memory file."""

    def __init__(self, parts):
        try:
            head, buffers, self._kept = _pickling.dump_payload(parts)
        except Exception as error:
            raise _pickling.why_not(parts) from error
        _name_long_list(parts)
        buffers = [buffer.raw() for buffer, _ in buffers]
        places, end = [], len(head)
        for buffer in buffers:
            end = _pickling.aligned(end)
            places += [end, buffer.nbytes]
            end += buffer.nbytes
        table = struct.pack(f"{len(places)}q", *places)
        size = end + len(table)
        self._file = MemoryFile("brigade-dataset", max(size, 1))
        view = memoryview(Mapping(self._file, 0, max(size, 1)))
        view[:len(head)] = head
        for i, buffer in enumerate(buffers):
            if buffer.nbytes:
                view[places[2 * i]:places[2 * i] + buffer.nbytes] = buffer
        view[end:size] = table
        self.place = (self._file.fileno(), size, len(head), end)

    def __del__(self):
        _pickling.close_all(getattr(self, "_kept", ()))

    @staticmethod
    def read(parent, place):
        """Reads it in a worker, whose changes stay private."""
        descriptor, size, head, end = place
        file = MemoryFile.of_another(parent, descriptor)
        view = memoryview(Mapping(file.fileno(), 0, size, private=True))
        places = struct.unpack_from(f"{(size - end) // 8}q", view, end)
        return pickle.loads(view[:head], buffers=[
            view[at:at + length] for at, length in zip(places[::2], places[1::2])])


def _folder():
    """The working directory of the program and its workers; empty if it was removed."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def _graph_of(workers, room, fixed, arena, prints):
    words = {"task": {"dtype": "i64", "shape": [2]}}
    answer = {"answer": {"dtype": "i64", "shape": [6]}}
    program = {"argv": sys.argv, "path": [str(entry) for entry in sys.path], "folder": _folder()}
    params = {"parent": os.getpid(), "arena": arena, "prints": prints,
              "torch": sys.modules.get("torch") is not None, "program": _graph.hidden(program)}
    # The graph has no ranks, and would say so to workers, which know those of the program.
    ranks = {name: os.environ[name].replace("$", "$$") for name in ("RANK", "WORLD_SIZE")
             if name in os.environ}
    executable = (sys.executable or "/proc/self/exe").replace("$", "$$")
    whole = {"rank": 0, "world": 1}  # samplers divide a dataset, whatever launchers say
    return {"name": "DataLoader", "oversubscribe": True, "shard": whole, "drain": _END, "stages": {
        "tasks": {"producer": "application", "tensors": words, "chunk": 1, "buffers": room},
        "workers": {"exec": [executable], "from": "tasks", "tensors": answer,
                    "params": params, "replicas": workers,
                    "assign": "fixed" if fixed else "shared", "chunk": 1,
                    "buffers": room, "env": ranks, "poison_after": _DEATHS_MAX,
                    "restart": {"policy": "always", "backoff": "1ms", "burst": 1000000}},
        "batches": {"consumer": "application", "from": {"stage": "workers", "batch": 1},
                    "params": {"order": "any"}}}}


class Pool:
    """Workers and their tasks. Several iterators may have tasks here: each gets its own batches, as
    they finish."""

    def __init__(self, workers, prefetch, fixed, changes, parts=None, again="", on_event=None):
        """`fixed`: submit() chooses the worker of a task; otherwise the next free worker takes it.
        `parts`: data that workers need in addition to their tasks, inherited by a fork of the
        program; None: each task names its Payload, and workers come from the server. `again`: text
        for messages about a worker that replaces a dead one."""
        from ._data_worker import main
        self.process, self.is_forked = os.getpid(), parts is not None
        self._forker = ForkOfProgram(workers, lambda: main(parts)) if self.is_forked else \
            ForkOfServer(server())
        self._lock = threading.RLock()
        self.workers, self.fixed = workers, fixed
        room = workers * prefetch + _AHEAD
        self._arena = Arena(warm=workers * prefetch + 4)
        forker = self._forker
        poison = self._poison = []  # numbers of tasks that have ended too many workers
        left = self._left = []  # not empty: the program has ended the workers

        def told(event):
            if event.kind == "quarantined":
                poison.append(event.sample)
            if event.kind == "failed" and poison:
                return None
            return told_of(event, again, forker.is_stopped(), bool(left))

        log = EventLog(on_event, told, prints=True)
        made = _graph.read(_graph_of(workers, room, fixed, self._arena.descriptor, log.prints))
        self._run = Run(made, "dlpack", log=log, forker=self._forker.descriptor)
        self._input = self._run._run.input("tasks")
        self._output = self._run._run.output("batches")
        self._tasks = {}  # by block
        self._passed_over = 0  # tasks of other workers' turns, with nothing to do
        self._tensors, self._changes = Reader(changes), changes
        self._came = []  # an answer that is not noted yet
        self._failed = False
        self._must_end = False  # workers are not just killed
        self.in_step = False  # or an exception came in between: iterators begin again with others

    def is_usable(self):
        return not self._failed and not self.in_step and self.process == os.getpid()

    def submit(self, owner, worker, turn, name, message):
        """True if the graph had room. `owner`: a weak reference to the iterator that gets the
        answer; `turn`: passed to it; `name`: of the batch, for messages."""
        with self._lock:
            self.in_step = True
            submitted = self._submit(owner, worker, turn, name, message)
            self.in_step = False
            return submitted

    def _submit(self, owner, worker, turn, name, message):
        seconds = 0 if self._tasks or self._passed_over else _IDLE_SECONDS
        while (slot := self._input.acquire(seconds, *_HERE)) is not None:
            number = slot.sample()[0]
            if self.fixed and number % self.workers != worker:
                self._put(slot, -1, 0)
                self._passed_over += 1
                continue
            block, offset = self._arena.take(message)
            self._put(slot, offset, len(message))
            self._tasks[block] = Task(owner, block, worker, turn, name, number)
            return True
        return False

    @staticmethod
    def _put(slot, offset, size):
        WORDS.pack_into(slot.tensor("task"), 0, offset, size)
        slot.submit()

    def cancel(self, owner):
        """Cancels the tasks of an iterator."""
        with self._lock:
            for task in self._tasks.values():
                if task.owner is owner:
                    self._arena.cancel(task.block)

    def receive(self, seconds):
        """Passes the next answer to its iterator. Raises TimeoutError, or RuntimeError if the
        workers failed."""
        with self._lock:
            if not self._tasks and not self._passed_over and not self._input.ended():
                return
            raw = self._next(seconds)
            if raw is None:
                raise self._why_ended()
            self.in_step = True
            self._came.clear()
            self._note(raw)
            self.in_step = False

    def _note(self, raw):
        offset, kind, *places = ANSWER.unpack_from(raw.tensor("answer"))
        del raw
        self._must_end = self._must_end or kind >= MUST_END
        answer = [kind % MUST_END, *places]
        if offset < 0:
            self._passed_over -= 1
            return
        task = self._tasks.pop(offset // STRIDE)
        iterator = task.owner()
        if iterator is not None and answer[0] != NOTHING:
            iterator._answered(answer, task)
        else:
            self.give_back(answer, task.block)

    def _next(self, seconds):
        """The next answer, or None at the end. One call takes it and stores it in `_came`, so that
        no exception can come in between."""
        until = seconds and time.monotonic() + seconds
        while not self._came:
            left = max(until - time.monotonic(), 0.001) if seconds else _LOOK_SECONDS
            where = (ANY_EPOCH,), (_HERE[0],), (_HERE[1],), (min(left, _LOOK_SECONDS),)
            try:
                self._came.extend(map(self._output.next, *where))
            except TimeoutError:
                if seconds and time.monotonic() >= until:
                    raise
                self._look()
        return self._came[0] if self._came[0] is not None else self._came.pop()

    def _look(self):
        try:
            self._forker.look()
        except RuntimeError as error:
            self._failed = True
            raise error from None

    def _why_ended(self):
        self._failed = True
        self._forker.stop()
        try:
            self._run.wait()
        except RunError as error:
            self._run._log.wait_for_end()
            name = next((task.name for task in self._tasks.values()
                         if task.number in self._poison), None)
            if name is None:
                return RuntimeError(f"the workers of the DataLoader have ended: {error}")
            return RuntimeError(f"{name} ended its worker {_DEATHS_MAX} times, by a crash, an "
                                "exit or lack of memory; see the workers' output on standard "
                                "error")
        return RuntimeError("the workers of the DataLoader have been stopped")

    def give_back(self, answer, block):
        self._arena.free(block, answer[-1])

    def load(self, answer, block):
        """The result of the worker, for a batch with the state of the dataset. Its tensors use the
        block."""
        if self.process != os.getpid():
            raise RuntimeError("this is a forked child, and this iterator belongs to its "
                               "parent; call iter() here")
        kind, table, entries, head, end = answer
        lease = self._arena.lease(block, end)
        if kind in (TENSORS, BATCH):
            self._changes.size(end)
        if kind == TENSORS:
            return self._tensors.read(lease, table, entries, head, end), None
        return _pickling.load(memoryview(lease)[end - head:end], parts_of(lease, table, entries))

    def give_up(self):
        """Restarts all iterators with tasks here in another pool."""
        self.in_step = True
        self.close()

    def close(self):
        if not self._failed:
            self._left.append(True)
        self._failed = True
        if self.process == os.getpid():
            self._forker.stop()  # the run waits for workers that are being started
            if self._must_end:
                self._must_end = False
                self._end_workers()
            self._run.close()
            self._forker.close()

    def _end_workers(self):
        """Ends the workers after their current tasks."""
        for task in self._tasks.values():
            self._arena.cancel(task.block)
        try:
            self._run.stop()
            while self._output.next(ANY_EPOCH, *_HERE, 0) is not None:
                pass
            self._run.wait()
        except (RunError, ValueError):
            pass  # it is closed, or has failed


def pool_of(loader, parts, resumed):
    """(the pool of an iterator, its Payload or None). In a pool of workers forked from the program,
    the dataset is a copy from the time of the fork: with persistent_workers it serves the loader
    until the dataset has another state, otherwise only the iterator."""
    pool = loader._pool
    if pool is not None and (not pool.is_usable() or pool.is_forked and resumed):
        pool.close()
        pool = loader._pool = None
    if pool is not None and pool.fixed != _is_fixed(loader) and not loader.persistent_workers:
        pool = loader._pool = None  # iterators that have tasks there keep it
    if pool is None or not loader.persistent_workers:
        if _may_fork(loader):
            pool = _open_pool(loader, parts)
            if loader.persistent_workers:
                loader._pool = pool
            return pool, None
    if pool is None:
        pool = loader._pool = _open_pool(loader, None)
    if not pool.is_forked and (loader._payload is None or not loader.persistent_workers or resumed):
        loader._payload = Payload(parts)
    return pool, loader._payload


def _open_pool(loader, parts):
    if parts is not None:
        _name_long_list(parts)
    replays = loader._iterable and not has_state(loader.dataset)
    pool = Pool(loader.num_workers, loader.prefetch_factor, _is_fixed(loader), loader._changes,
                parts, "" if loader.worker_init_fn is None or replays else _ANEW, loader.on_event)
    loader._pools.add(pool)
    return pool


def _is_fixed(loader):
    """If worker_init_fn sets state in a worker, batches depend on their worker: worker w gets
    batches w, w + num_workers, ..., as in torch."""
    return loader._iterable or loader.worker_init_fn is not None


def _may_fork(loader):
    method = start_method(loader.multiprocessing_context)
    if method in ("spawn", "forkserver"):
        return False
    if loader._served or loader._said and method == "fork":
        return not loader._served
    why = why_no_fork()
    if why is not None and method == "fork":
        loader._said = True
        logger.warning("DataLoader: multiprocessing_context='fork' forks the program although "
                       "%s; workers may hang", why)
    elif why is not None:
        loader._served = True  # from now on: epochs are alike
        logger.info("DataLoader: workers are forked from a server, and the dataset is pickled, "
                    "because %s", why)
    return not loader._served


def start_method(context):
    """The start method of the loader's context, otherwise of the program."""
    if context is not None:
        return context.get_start_method()
    multiprocessing = sys.modules.get("multiprocessing")
    return multiprocessing and multiprocessing.get_start_method(allow_none=True)
