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
        self._before = self._at.before = _data_states.left_before(loader, state)
        self._pushed = None  # an index that was drawn and has no place yet
        if state is not None:
            self._at.began, self._at.given = state["began"], state["given"]
            self._at.made, self._at.worker = copy.deepcopy(state["made"]), state["worker"]
        with _data_states.as_it_began(loader, state):
            self._order = iter(loader._index_sampler)
            self._draw_seed(state)
            if not loader._iterable:
                for _ in range(self._at.given):
                    next(self._order, None)
                self._draw_index()
        loader._position = self._at

    def _draw_index(self):
        """The next one, as (index,); None where the order is at its end."""
        if self._pushed is None:
            try:
                self._pushed = (next(self._order),)
            except StopIteration:
                return None
        return self._pushed

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._loader)

    def _give(self, batch):
        self._at.given += 1
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
        try:
            if drawn is None:
                raise StopIteration
            batch = self._fetch(drawn[0])
        except StopIteration:
            self._at.ended = True
            if self._loader._iterable:
                self._at.made[0] = [self._at.given, self._fetch.state()]
            raise
        if self._loader._iterable:
            self._at.made[0] = [self._at.given + 1, self._fetch.state()]
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
        self._ready = collections.deque()  # (answer, block, worker)
        self._outstanding, self._no_more = 0, False
        self._sent = at.given  # of a map-style dataset; of an iterable one by each worker:
        self._sent_to = [made for made, _ in at.made]
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
        most = self._loader.prefetch_factor * self._loader.num_workers
        while self._outstanding < most and not self._no_more:
            drawn = self._draw_index()
            if drawn is None:
                self._no_more = True
            elif self._loader._iterable:
                if not self._send_in_turn(drawn[0]):
                    return
            elif self._send(0, self._sent, drawn[0]):
                self._sent += 1
            else:
                return

    def _send(self, worker, number, index):
        """False: the graph has no room now."""
        loader = self._loader
        message = self._common() + pickle.dumps((number, index), protocol=5)
        name = f"batch {number}" + (f" of worker {worker}" if loader._iterable else "")
        if not self._pool.submit(self._self, worker, name, message):
            return False
        self._outstanding += 1
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
        """One worker after the other, as torch has it, without those that are at their end."""
        workers = self._loader.num_workers
        if all(self._done):
            self._no_more = True
            return True
        while self._done[self._worker]:
            self._worker = (self._worker + 1) % workers
        worker = self._worker
        if not self._send(worker, self._sent_to[worker], index):
            return False
        self._sent_to[worker] += 1
        self._worker = (worker + 1) % workers
        return True

    def _answered(self, answer, block, worker):
        """By the pool, in the order of the tasks."""
        self._outstanding -= 1
        self._ready.append((answer, block, worker))
        if answer[0] == ENDED:
            self._done[worker] = True

    # --- batches ----------------------------------------------------------------------------------

    def __next__(self):
        with self._loader._lock:
            self._at.passed = self._at.stands()
            while not self._at.ended:
                self._feed()
                if self._ready:
                    answer, block, worker = self._ready.popleft()
                    self._feed()
                    if answer[0] != ENDED:
                        return self._give(self._opened(answer, block, worker))
                    self._at.made[worker] = [self._at.made[worker][0],
                                             self._pool.load(answer, block)]
                elif self._outstanding:
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

    def _opened(self, answer, block, worker):
        made = self._pool.load(answer, block)
        if answer[0] == ERROR:
            raise made.raised()
        batch, state = made
        if self._loader._iterable:
            at = self._at
            at.made[worker] = [at.made[worker][0] + 1, state]
            at.worker = (worker + 1) % self._loader.num_workers
        return batch

    def close(self):
        """Nobody waits for what is left."""
        self._loader._live.discard(self._key)
        self._no_more = True
        self._pool.cancel(self._self)
        while self._ready:
            answer, block, _ = self._ready.popleft()
            self._pool.give_back(answer, block)
        if self._pool.is_forked and not self._loader.persistent_workers:
            self._pool.close()

    def __del__(self):
        if hasattr(self, "_sent_to"):
            self.close()
