"""Iterators of a DataLoader, each over one epoch."""

import collections
import copy
import itertools
import pickle
import warnings
import weakref

from . import _data_states
from ._data_fetch import OfIterable, OfMap, needs_torch
from ._data_pool import ENDED, ERROR, OF_EPOCH, pool_of
from ._frameworks import tell_ranks

_WAITING_MAX = 64  # batches that are finished and wait for one before them
_WAITING_BYTES_MAX = 256 << 20
_keys = itertools.count()


class Epoch:
    """An epoch."""

    def __init__(self, loader):
        self._loader = loader
        self._pin = _pinning(loader)
        state = _data_states.take(loader)
        self._resumed = state is not None
        self._dataset_state = state and state.get("dataset")
        self._at = _data_states.Position(loader)
        self._given_before = frozenset()
        self._before = self._at.before = _data_states.left_before(loader, state)
        self._pushed = None  # an index that was drawn and has no place yet, and its batch's number
        if state is not None:
            self._at.began, self._at.given = state["began"], state["given"]
            self._at.ahead = set(state.get("ahead", ()))
            self._at.made, self._at.worker = copy.deepcopy(state["made"]), state["worker"]
        with _data_states.as_it_began(loader, state):
            self._order = iter(loader._index_sampler)
            self._draw_seed(state)
            self._numbered = zip(self._order, itertools.count())
            if not loader._iterable:
                self._given_before = frozenset(self._at.ahead)
                for _ in range(self._at.given):
                    next(self._numbered, None)
                self._draw_index()
        loader._position = self._at

    def _draw_index(self):
        """The next one that was not given before, as (index, number of the batch); None where the
        order is at its end."""
        while self._pushed is None:
            drawn = next(self._numbered, None)
            if drawn is None:
                return None
            if drawn[1] not in self._given_before:
                self._pushed = drawn
        return self._pushed

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._loader)

    def _passes(self, number):
        """That batch is given, or what was raised in its place."""
        if self._loader._iterable:
            self._at.given += 1
        else:
            self._at.gave(number)

    def _give(self, batch):
        loader = self._loader
        if not loader._told:
            loader._told = True
            tell_ranks(loader)
        if loader._iterable and loader._counted is not None:
            _warn_of_length(loader, self._at.given)
        return batch if self._pin is None else self._pin(batch)


def _warn_of_length(loader, given):
    expected = len(loader)
    if given > expected:
        sharing = (" Of several workers each gives its whole dataset, unless __iter__() asks "
                   "torch.utils.data.get_worker_info() for its part."
                   if loader.num_workers > 1 else "")
        warnings.warn(f"Length of IterableDataset {loader.dataset} was said to be "
                      f"{loader._counted}, that is {expected} batches, and this is batch {given}."
                      + sharing, stacklevel=4)


def _pinning(loader):
    """A function, or None."""
    if not loader.pin_memory:
        return None
    torch = needs_torch("pin_memory=True", "leave it away")
    if not torch.cuda.is_available():
        warnings.warn("pin_memory=True has no effect: torch finds no accelerator", stacklevel=5)
        return None
    from torch.utils.data._utils.pin_memory import pin_memory
    device = loader.pin_memory_device or None
    return lambda batch: pin_memory(batch, device) if device else pin_memory(batch)


class Here(Epoch):
    """In the calling process: num_workers=0."""

    def __init__(self, loader):
        super().__init__(loader)
        if not loader._iterable:
            self._fetch = OfMap(loader.dataset, loader.collate_fn, loader._auto_collation)
            if self._dataset_state is not None:
                loader.dataset.load_state_dict(self._dataset_state)
            return
        made, state = self._at.made[0]
        before = self._before and self._before[0]
        self._fetch = OfIterable(loader.dataset, loader.collate_fn, loader._auto_collation,
                                 loader.drop_last, state or before, ended=not state)
        if state is None:
            for _ in range(made):
                self._fetch(next(self._order))
        self._at.made[0] = [made, self._fetch.state()]

    def _draw_seed(self, state):
        self._at.seed = self._loader._seed()

    def __next__(self):
        self._at.passed = self._at.stands()
        drawn = self._draw_index()
        self._pushed = None
        iterable = self._loader._iterable
        try:
            if drawn is None:
                raise StopIteration
            batch = self._fetch(drawn[0])
        except StopIteration:
            self._at.ended = True
            if iterable:
                self._at.made[0] = [self._at.given, self._fetch.state()]
            raise
        except Exception:
            if not iterable:
                self._passes(drawn[1])
            raise
        if iterable:
            self._at.made[0] = [self._at.given + 1, self._fetch.state()]
        self._passes(drawn[1])
        return self._give(batch)


class InWorkers(Epoch):
    """Tasks are given to the workers by the thread that asks for batches, so many ahead."""

    def __init__(self, loader):
        super().__init__(loader)
        self._self = weakref.ref(self)
        at = self._at
        self._pool, self._payload = pool_of(loader, {
            "dataset": loader.dataset, "collate_fn": loader.collate_fn,
            "worker_init_fn": loader.worker_init_fn, "iterable": loader._iterable,
            "batched": loader._auto_collation, "drop_last": loader.drop_last,
            "epoch": at.epoch, "began": list(at.made), "before": self._before}, self._resumed)
        self._of_epoch = None
        self._ready = {}  # by turn, as they finish: (answer, task)
        self._ready_bytes = 0
        self._turns = {}  # of batches that are not given yet, in the order of their tasks
        self._no_more = False
        self._unfinished = [0] * loader.num_workers  # tasks, where each worker has its own
        self._sent_to = [made for made, _ in at.made]  # of an iterable dataset
        self._done = [False] * loader.num_workers
        self._worker = at.worker  # whose turn it is
        loader._live.add(self._key)
        loader._changes.begin(loader.num_workers)
        self._feed()

    def _draw_seed(self, state):
        loader, at = self._loader, self._at
        persistent = loader.persistent_workers
        if state is not None and "seed" in state and (persistent or not state["ended"]):
            if state["epoch"] == 0 and not state["ended"]:
                loader._seed()  # as that epoch did
            loader._base_seed, loader._key = state["seed"], next(_keys)
            loader._epoch = state["epoch"] + state["ended"]
        elif persistent and loader._base_seed is not None and state is None:
            loader._epoch += 1
        else:
            loader._base_seed, loader._epoch, loader._key = loader._seed(), 0, next(_keys)
        at.seed, at.epoch, self._key = loader._base_seed, loader._epoch, loader._key

    # --- tasks ------------------------------------------------------------------------------------

    def _feed(self):
        while not self._no_more and self._has_room():
            drawn = self._draw_index()
            if drawn is None:
                self._no_more = True
            elif not self._give_out(*drawn):
                return

    def _give_out(self, index, number):
        """False: nobody has room now."""
        if self._loader._iterable:
            return self._send_in_turn(index)
        worker = self._next_worker(number % self._loader.num_workers) if self._pool.fixed else 0
        return worker is not None and self._send(worker, number, index, number)

    def _has_room(self):
        """As torch has it: for prefetch_factor of each worker. Batches that are finished and wait
        for one before them take no room, up to a number and a size."""
        most = self._loader.prefetch_factor * self._loader.num_workers
        unfinished = len(self._turns) - len(self._ready)
        if len(self._turns) < most:
            return True
        waits = self._loader.in_order and next(iter(self._turns)) not in self._ready
        return waits and unfinished < most and len(self._ready) < _WAITING_MAX and \
            self._ready_bytes < _WAITING_BYTES_MAX

    def _send(self, worker, number, index, turn):
        """False: the graph has no room now."""
        loader = self._loader
        message = self._common() + pickle.dumps((number, index), protocol=5)
        name = f"batch {number}" + (f" of worker {worker}" if loader._iterable else "")
        if not self._pool.submit(self._self, worker, turn, name, message):
            return False
        self._turns[turn] = None
        self._unfinished[worker] += 1
        self._pushed = None
        return True

    def _common(self):
        """What tasks of this epoch have in common, until other iterators come or go."""
        loader, at = self._loader, self._at
        if self._of_epoch is None or self._of_epoch[0] != loader._live:
            common = pickle.dumps({
                "live": loader._live | {self._key}, "key": self._key,
                "payload": self._payload and self._payload.place, "seed": at.seed,
                "epoch": at.epoch, "workers": loader.num_workers}, protocol=5)
            self._of_epoch = set(loader._live), OF_EPOCH.pack(len(common)) + common
        return self._of_epoch[1]

    def _send_in_turn(self, index):
        """One worker after the other."""
        if all(self._done):
            self._no_more = True
            return True
        worker = self._next_worker(self._worker)
        if worker is None or not self._send(worker, self._sent_to[worker], index,
                                            (worker, self._sent_to[worker])):
            return False
        self._sent_to[worker] += 1
        self._worker = (worker + 1) % self._loader.num_workers
        return True

    def _next_worker(self, first):
        """From `first` on, as torch has it, without those that are at their end; where any order
        will do, without those that have enough to do. None: there is none."""
        loader = self._loader
        for worker in (*range(first, loader.num_workers), *range(first)):
            if not self._done[worker] and (
                    loader.in_order or self._unfinished[worker] < loader.prefetch_factor):
                return worker
        return None

    def _answered(self, answer, task):
        """By the pool, as they finish."""
        if task.turn not in self._turns:  # it was closed
            self._pool.give_back(answer, task.block)
            return
        self._unfinished[task.worker] -= 1
        self._ready[task.turn] = answer, task
        self._ready_bytes += answer[-1]
        if answer[0] == ENDED:
            self._done[task.worker] = True

    def _next_turn(self):
        """Of a batch that may be given now, or None."""
        first = next(iter(self._turns), None)
        if first in self._ready or self._loader.in_order or not self._ready:
            return first if first in self._ready else None
        if not self._loader._iterable:
            return next(iter(self._ready))
        firsts = {}  # of each worker, whose batches come in its own order
        for turn in self._turns:
            firsts.setdefault(turn[0], turn)
        return next((turn for turn in firsts.values() if turn in self._ready), None)

    # --- batches ----------------------------------------------------------------------------------

    def __next__(self):
        with self._loader._lock:
            self._at.passed = self._at.stands()
            while not self._at.ended:
                self._feed()
                turn = self._next_turn()
                if turn is not None:
                    answer, task = self._ready.pop(turn)
                    del self._turns[turn]
                    self._ready_bytes -= answer[-1]
                    self._feed()
                    if answer[0] != ENDED:
                        return self._give(self._opened(answer, task))
                    at, worker = self._at, task.worker
                    at.made[worker] = [at.made[worker][0], self._pool.load(answer, task.block)]
                elif self._turns:
                    self._receive()
                elif self._no_more:
                    self._at.ended = True
                else:
                    self._receive()  # of another iterator, which fills the graph
            self.close()
            raise StopIteration

    def _receive(self):
        timeout = self._loader.timeout
        try:
            self._pool.receive(timeout)
        except TimeoutError:
            raise RuntimeError(f"the DataLoader timed out: no batch has come within "
                               f"timeout={timeout} seconds") from None

    def _opened(self, answer, task):
        made = self._pool.load(answer, task.block)
        iterable, failed = self._loader._iterable, answer[0] == ERROR
        if not (iterable and failed):
            self._passes(task.turn)
        if failed:
            raise made.raised()
        batch, state = made
        if iterable:
            at, worker = self._at, task.worker
            at.made[worker] = [at.made[worker][0] + 1, state]
            at.worker = (worker + 1) % self._loader.num_workers
        return batch

    def close(self):
        """Nobody waits for what is left."""
        self._loader._live.discard(self._key)
        self._no_more = True
        self._pool.cancel(self._self)
        self._turns.clear()
        while self._ready:
            answer, task = self._ready.popitem()[1]
            self._pool.give_back(answer, task.block)
        if self._pool.is_forked and not self._loader.persistent_workers:
            self._pool.close()

    def __del__(self):
        if hasattr(self, "_sent_to"):
            self.close()
