"""Epochs of a DataLoader with workers."""

import itertools
import pickle
import weakref

from ._data_epoch import Epoch, Out
from ._data_pool import ENDED, ERROR, OF_EPOCH, pool_of

_WAITING_MAX = 64  # batches that are finished and wait for one before them
_WAITING_BYTES_MAX = 256 << 20
_keys = itertools.count()


class InWorkers(Epoch):
    """An epoch with workers. The thread that asks for batches submits tasks, up to a number
    ahead."""

    def __init__(self, loader, state):
        self._pool, self._key, self._ready = None, None, {}
        super().__init__(loader, state)
        self._self = weakref.ref(self)
        self._closed = False
        self._begin()
        loader._changes.begin(loader.num_workers)
        self._in_step = True
        self._feed()
        self._in_step = False

    def _begin(self):
        """Restarts at the position with nothing in flight; with other workers if an exception came
        between two steps."""
        loader, now = self._loader, self.at.now
        self._in_step = True
        again = self._pool is not None
        if again:
            self._pool.give_up()
        self._pool, self._payload = pool_of(loader, {
            "dataset": loader.dataset, "collate_fn": loader.collate_fn,
            "worker_init_fn": loader.worker_init_fn, "iterable": loader._iterable,
            "batched": loader._auto_collation, "drop_last": loader.drop_last,
            "epoch": self.at.epoch, "began": list(now.made), "before": self._before},
            self._resumed or again)
        self._of_epoch = None
        self._ready = {}  # by turn, as they finish: (answer, task)
        self._ready_bytes = 0
        self._turns = {}  # of batches that are not given yet, in the order of their tasks
        self._no_more = False
        self._unfinished = [0] * loader.num_workers  # tasks, where each worker has its own
        self._sent_to = [made for made, _ in now.made]  # of an iterable dataset
        self._done = [False] * loader.num_workers
        self._worker = now.worker  # whose turn it is
        self._unsent = self._left()
        loader._live.add(self._key)
        self._in_step = False

    def _draw_seed(self, state):
        loader, at = self._loader, self.at
        persistent = loader.persistent_workers
        seed, epoch, key = loader._seeds or (None, 0, None)
        if state is not None and "seed" in state and (persistent or not state["ended"]):
            if state["epoch"] == 0 and not state["ended"]:
                loader._seed()  # as that epoch did
            seed, epoch, key = state["seed"], state["epoch"] + state["ended"], next(_keys)
        elif persistent and seed is not None and state is None:
            epoch += 1
        else:
            seed, epoch, key = loader._seed(), 0, next(_keys)
        loader._seeds = seed, epoch, key
        at.seed, at.epoch, self._key = seed, epoch, key

    # --- tasks ------------------------------------------------------------------------------------

    def _feed(self):
        while not self._no_more and self._has_room():
            if self._loader._iterable:
                given_out = self._send_in_turn()
            else:
                number = self._draw_number()
                if number is None:
                    self._no_more = True
                    return
                given_out = self._give_out(number)
            if not given_out:
                return

    def _give_out(self, number):
        """Submits a task; False if no worker has room now."""
        worker = self._next_worker(number % self._loader.num_workers) if self._pool.fixed else 0
        if worker is None or not self._send(worker, number, self._indices[number], number):
            return False
        self._unsent.popleft()
        return True

    def _has_room(self):
        """True if there is room: as in torch, for prefetch_factor batches per worker. Finished
        batches that wait for an earlier one do not count, up to a number and a size."""
        most = self._loader.prefetch_factor * self._loader.num_workers
        unfinished = len(self._turns) - len(self._ready)
        if len(self._turns) < most:
            return True
        waits = self._loader.in_order and next(iter(self._turns)) not in self._ready
        return waits and unfinished < most and len(self._ready) < _WAITING_MAX and \
            self._ready_bytes < _WAITING_BYTES_MAX

    def _send(self, worker, number, index, turn):
        """Submits a task; False if the graph has no room now."""
        loader = self._loader
        message = self._common() + pickle.dumps((number, index), protocol=5)
        name = f"batch {number}" + (f" of worker {worker}" if loader._iterable else "")
        if not self._pool.submit(self._self, worker, turn, name, message):
            return False
        self._turns[turn] = None
        self._unfinished[worker] += 1
        return True

    def _common(self):
        """The common part of this epoch's tasks, until other iterators come or go."""
        loader, at = self._loader, self.at
        if self._of_epoch is None or self._of_epoch[0] != loader._live:
            common = pickle.dumps({
                "live": loader._live | {self._key}, "key": self._key,
                "payload": self._payload and self._payload.place, "seed": at.seed,
                "epoch": at.epoch, "workers": loader.num_workers}, protocol=5)
            self._of_epoch = set(loader._live), OF_EPOCH.pack(len(common)) + common
        return self._of_epoch[1]

    def _send_in_turn(self):
        """One worker after the other."""
        if all(self._done):
            self._no_more = True
            return True
        worker = self._next_worker(self._worker)
        if worker is None or not self._send(worker, self._sent_to[worker], self._index,
                                            (worker, self._sent_to[worker])):
            return False
        self._sent_to[worker] += 1
        self._worker = (worker + 1) % self._loader.num_workers
        return True

    def _next_worker(self, first):
        """The next worker after `first`, as in torch, except workers that are at their end; if any
        order is allowed, also except workers with enough work. None if there is none."""
        loader = self._loader
        for worker in (*range(first, loader.num_workers), *range(first)):
            if not self._done[worker] and (
                    loader.in_order or self._unfinished[worker] < loader.prefetch_factor):
                return worker
        return None

    def _answered(self, answer, task):
        """The pool calls this with each finished batch."""
        if task.turn not in self._turns:  # it was closed
            self._pool.give_back(answer, task.block)
            return
        self._unfinished[task.worker] -= 1
        self._ready[task.turn] = answer, task
        self._ready_bytes += answer[-1]
        if answer[0] == ENDED:
            self._done[task.worker] = True

    def _next_turn(self):
        """Number of a batch that may be delivered now, or None."""
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

    def _take(self):
        while not self._closed and not self.at.now.ended:
            if self._in_step or self._pool.in_step:
                self._begin()
            self._in_step = True
            self._feed()
            turn = self._next_turn()
            if turn is None:
                self._in_step = False
                if not self._turns and self._no_more:
                    break
                self._receive()  # of another iterator, perhaps, which fills the graph
                continue
            answer, task = self._ready.pop(turn)
            del self._turns[turn]
            self._ready_bytes -= answer[-1]
            self._feed()
            if answer[0] == ENDED:
                now, state = self.at.now, self._pool.load(answer, task.block)
                self.at.now = now.with_made(task.worker, now.made[task.worker][0], state)
            else:
                self._out = self._opened(answer, task)
            self._in_step = False
            if answer[0] != ENDED:
                return self._out
        return self._ends()

    def _receive(self):
        timeout = self._loader.timeout
        try:
            self._pool.receive(timeout)
        except TimeoutError:
            raise RuntimeError("the DataLoader timed out: no batch arrived within "
                               f"timeout={timeout} seconds") from None

    def _opened(self, answer, task):
        now, worker = self.at.now, task.worker
        made = error = None
        try:
            made = self._pool.load(answer, task.block)
        except Exception as raised:
            error = raised
        if answer[0] == ERROR and error is None:
            error = made.raised()
        if not self._loader._iterable:
            return Out(error is None and made[0], error, now, now.gave(task.turn), task.turn)
        if error is not None:
            return Out(None, error, now, now.behind(), None)
        batch, state = made
        after = now.behind(given=now.given + 1, worker=(worker + 1) % self._loader.num_workers)
        return Out(batch, None, now, after.with_made(worker, now.made[worker][0] + 1, state), None)

    def close(self):
        """Cancels the remaining tasks."""
        self._closed = self._no_more = True
        self._loader._live.discard(self._key)
        if self._pool is None:
            return
        self._pool.cancel(self._self)
        self._turns.clear()
        while self._ready:
            answer, task = self._ready.popitem()[1]
            self._pool.give_back(answer, task.block)
        if self._pool.is_forked and not self._loader.persistent_workers:
            self._pool.close()

    def __del__(self):
        if getattr(self, "_key", None) is not None:
            self.close()
