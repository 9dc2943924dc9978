"""A worker of a DataLoader, in the process that a forker has forked."""

import os
import pickle
import struct
import sys
import threading

from . import _child, _graph, _pickling
from ._arena import CANCELLED, TASK_AT, Blocks, MemoryFile, Room
from ._data_failure import Failure
from ._data_fetch import Generators, OfIterable, OfMap, WorkerInfo, set_worker_info
from ._data_layout import Writer
from ._data_pool import (ANSWER, BATCH, ENDED, ERROR, MUST_END, NOTHING, OF_EPOCH, TENSORS, WORDS,
                         Payload)
from ._errors import OF_USERS, RunError
from ._worker import attach


class Loaded:
    """The dataset of one iterator of the program; with persistent_workers, of all iterators."""

    def __init__(self, parts, replica, task):
        self.dataset, self.iterable = parts["dataset"], parts["iterable"]
        self._parts, self._epoch, self._made = parts, None, 0
        self.id, self.workers, self.seed = replica, task["workers"], task["seed"]
        self._show()
        self._generators = Generators(self.seed, parts["worker_init_fn"], self.id)

    def _show(self):
        """Sets the WorkerInfo of this worker."""
        set_worker_info(WorkerInfo(self.id, self.workers, self.seed + self.id, self.dataset))

    def leave(self):
        """Pauses it while another one creates batches, until go_on()."""
        self._generators.leave()

    def go_on(self):
        self._show()
        self._generators.go_on()

    def catch_up(self, task, number, index):
        """Catches up to this task. An iterable dataset without a state repeats the batches that
        were delivered before, by a worker that died or before the program was resumed."""
        if self._epoch != task["epoch"]:
            self._begin(task)
        if self.iterable:
            for before in range(self._made, number):
                self._next(task, before, index)

    def make(self, task, number, index):
        """(batch, the dataset's state) of a task; StopIteration at the end of an iterable
        dataset."""
        batch = self._next(task, number, index)
        return batch, self._fetch.state() if self.iterable else None

    def _begin(self, task):
        parts = self._parts
        self._epoch = task["epoch"]
        collate, batched = parts["collate_fn"], parts["batched"]
        if not self.iterable:
            self._fetch = OfMap(self.dataset, collate, batched)
            return
        self._seed(task, 0)
        made, state, before = 0, None, None
        if self._epoch == parts["epoch"]:  # persistent workers have others with the same parts
            made, state = parts["began"][self.id]
            before = parts["before"] and parts["before"][self.id]
        self._made = 0 if state is None else made
        self._fetch = OfIterable(self.dataset, collate, batched, parts["drop_last"],
                                 state or before, ended=not state)

    def state(self):
        """State of an iterable dataset at its end."""
        return self._fetch.state()

    def _next(self, task, number, index):
        self._seed(task, number)
        self._made = number + 1
        return self._fetch(index)

    def _seed(self, task, number):
        stream = self.id + 1 if self.iterable else 0
        self._generators.begin(task["seed"], task["epoch"], stream, number)


class Server:
    """`parts`: data inherited instead of payloads, or None."""

    def __init__(self, worker, parts):
        params = worker.params
        self._parts = parts
        self._parent, self._replica = params["parent"], worker.replica
        self._blocks = Blocks(MemoryFile.of_another(self._parent, params["arena"]))
        self._loaded, self._shown = {}, None
        self._of_epoch, self._task = None, None  # what tasks of an epoch have in common
        self._tensors = Writer()
        self.room = None  # of the batch that is being made; none while others are skipped

    def answer(self, words):
        offset, size = WORDS.unpack(words)
        if offset < 0:
            return (offset, NOTHING, 0, 0, 0, 0)
        view = memoryview(self._blocks.mapping(offset, TASK_AT + size))
        if CANCELLED.unpack_from(view)[0]:
            return (offset, NOTHING, 0, 0, 0, 0)
        common = TASK_AT + OF_EPOCH.size
        own = common + OF_EPOCH.unpack_from(view, TASK_AT)[0]
        if self._of_epoch != view[common:own]:
            self._of_epoch, self._task = None, pickle.loads(view[common:own])
            self._of_epoch = bytes(view[common:own])
        number, index = pickle.loads(view[own:TASK_AT + size])
        room = Room(self._blocks, offset, TASK_AT + size)
        answer = self._make(number, index, room)
        self.room = None
        room.close()
        return (offset, *answer)

    def _make(self, number, index, room):
        try:
            loaded = self._load(self._task)
            try:
                loaded.catch_up(self._task, number, index)
                self.room = room
                batch, state = loaded.make(self._task, number, index)
                places = self._tensors.write(room, batch) if state is None else None
                if places is not None:
                    return (TENSORS, *places)
                return (BATCH, *_written(room, (batch, state)))
            except StopIteration:
                return (ENDED, *_written(room, loaded.state()))
        except OF_USERS as error:
            room.open_reserve()
            return (ERROR, *_written(room, Failure.of(error, self._replica)))

    def _load(self, task):
        for key in [key for key in self._loaded if key not in task["live"]]:
            del self._loaded[key]
        key = task["key"]
        found = self._loaded.get(key)
        if found is None or found is not self._shown:
            if self._shown is not None:
                self._shown.leave()
            self._shown = None
        if found is None:
            parts = self._parts or Payload.read(self._parent, task["payload"])
            found = self._loaded[key] = self._shown = Loaded(parts, self._replica, task)
        elif self._shown is None:
            self._shown = found
            found.go_on()
        return found


def _written(room, thing):
    """Pickles it into the block."""
    head, buffers = _pickling.dump_result(thing)
    places = []
    for buffer, address in buffers:
        data = buffer.raw()
        there = room.position_of(address, data.nbytes)
        places += [room.write(data) if there is None else there, data.nbytes]
        data.release()
        buffer.release()
    table = room.write(struct.pack(f"{len(places)}q", *places), head)
    return table, len(buffers), len(head), room.at


def _collate_in_place(server):
    """Replaces the shared memory that torch's default_collate() requests in a worker by the block
    of the batch: nothing is copied, and nothing gets a name in /dev/shm. In a process forked by the
    worker, for example a worker of torch's loader, torch's memory is used."""
    import torch
    process, thread = os.getpid(), threading.get_ident()

    def instead_of(theirs):
        def new_shared(storage, size, *, device=None):
            room = server.room
            if os.getpid() != process:
                return theirs(storage, size, device=device)
            dtype = storage.dtype
            if room is None or not size or threading.get_ident() != thread:
                made = torch.empty(size, dtype=dtype)
            else:
                bytes_each = torch.empty(0, dtype=dtype).element_size()
                made = torch.frombuffer(room.lend(size * bytes_each), dtype=dtype)
            return made._typed_storage() if hasattr(made, "_typed_storage") else made.storage()
        return new_shared

    for name in ("TypedStorage", "_TypedStorage"):
        kind = getattr(torch.storage, name, None)
        if kind is not None:
            kind._new_shared = instead_of(kind._new_shared)


def _print_there(parent, pipe):
    """Redirects output printed here, in any language, to the program's sys.stdout; descriptor 2
    belongs to the run, which shows it on the program's sys.stderr."""
    descriptor = os.open(f"/proc/{parent}/fd/{pipe}", os.O_WRONLY)
    os.dup2(descriptor, 1)
    os.close(descriptor)


def main(parts=None):
    """`parts`: data from the iterator, if this process is a fork of the program."""
    try:
        with attach() as worker:
            _work(worker, parts)
    except RunError:  # the supervisor has the reason
        sys.exit(1)


def _work(worker, parts):
    params = worker.params
    _print_there(params["parent"], params["prints"])
    if parts is None:
        program = _graph.shown(params["program"])
        sys.path[:], sys.argv[:] = program["path"], program["argv"]
        if program["folder"]:
            os.chdir(program["folder"])
    server = Server(worker, parts)
    if params["torch"]:
        import torch
        if torch.get_num_threads() != worker.threads:
            torch.set_num_threads(worker.threads)
        _collate_in_place(server)
    for task in worker:
        offset, kind, *places = server.answer(bytes(task.input("task")))
        kind |= _child.must_end() and MUST_END
        ANSWER.pack_into(task.output("answer"), 0, offset, kind, *places)
        task.finish()
