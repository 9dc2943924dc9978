"""An epoch of a DataLoader, and the epoch without workers."""

import collections
import itertools
import warnings

from . import _data_states
from ._data_fetch import OfIterable, OfMap, needs_torch
from ._frameworks import tell_ranks

# What next() gives, or raises, and the positions before and behind it.
Out = collections.namedtuple("Out", "batch error before after number")


class Epoch:
    """An epoch. An exception (for example Ctrl-C) may come between any two lines; the following
    next() continues from the current position. A single store to Position.now delivers a batch;
    work left half done by an exception is marked and repeated from that position."""

    def __init__(self, loader, state):
        self._loader = loader
        self._pin = _pinning(loader)
        self._out = None  # is given next where its `before` is the position
        self._in_step = self._is_drawing = False  # or an exception came in between
        self._warned_at = 0
        self._resumed = state is not None
        self._dataset_state = state and state.get("dataset")
        self.at = _data_states.Position(loader, state)
        self._before = self.at.before
        self._drawn = []  # (number, index) that has no place yet
        self._indices = {}  # of batches that were not given, by number
        self._unsent = collections.deque()  # numbers of those that no worker has
        with _data_states.as_it_began(loader, state):
            self._order = iter(loader._index_sampler)
            self._draw_seed(state)
            self._numbered = zip(itertools.count(), self._order)
            if loader._iterable:
                self._index = next(self._order)  # all are alike
            else:
                self._draw_number()

    def _draw_number(self):
        """Number of the next batch that was not delivered before; None at the end of the order."""
        if self._is_drawing:
            self._draw_again()
        while not self._unsent:
            self._is_drawing = True
            if not self._drawn:
                self._drawn.extend(itertools.islice(self._numbered, 1))
            if self._drawn:
                number, index = self._drawn[0]
                if self._is_new(number):
                    self._indices[number] = index
                    self._unsent.append(number)
                self._drawn.clear()
                self._is_drawing = False
            else:
                self._is_drawing = False
                return None
        return self._unsent[0]

    def _draw_again(self):
        """The order from its beginning: an exception may have ended the generator of the
        sampler."""
        loader = self._loader
        self._unsent = self._left()
        if self._order is not loader._index_sampler:
            with _data_states.as_it_began(loader, {"began": self.at.began}):
                self._order = iter(loader._index_sampler)
                self._numbered = zip(itertools.count(), self._order)
                drawn = next((one for one in self._numbered if self._is_new(one[0])), None)
            self._drawn[:] = [drawn] if drawn else []
        self._is_drawing = False

    def _is_new(self, number):
        """True for a batch whose index was not drawn and that was not delivered."""
        return number not in self._indices and not self.at.now.has(number)

    def _left(self):
        """Numbers of batches that were drawn and not delivered."""
        now = self.at.now
        return collections.deque(number for number in self._indices if not now.has(number))

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._loader)

    def __next__(self):
        out, at = None, self.at
        try:
            with self._loader._lock:
                out = self._out
                if out is None or out.before is not at.now:
                    out = self._take()
                if out.error is None:
                    out = out._replace(batch=self._give(out))
                at.now = out.after
                self._out = None
                self._indices.pop(out.number, None)
                if at.now.ended:
                    self.close()
            if out.error is None:
                return out.batch
        except BaseException:
            if out is not None and at.now is out.after is not out.before:
                self._out, at.now = out, out.before  # it was not given
            raise
        raise out.error

    def _ends(self):
        now = self.at.now
        return Out(None, StopIteration(), now, now if now.ended else now.behind(ended=True), None)

    def _give(self, out):
        loader, given = self._loader, out.after.given
        if not loader._told:
            loader._told = True
            tell_ranks(loader)
        if loader._iterable and loader._counted is not None and self._warned_at < given:
            self._warned_at = given
            _warn_of_length(loader, given)
        return out.batch if self._pin is None else self._pin(out.batch)

    def close(self):
        pass


def _warn_of_length(loader, given):
    expected = len(loader)
    if given > expected:
        sharing = (" With several workers, each yields the whole dataset unless __iter__() "
                   "selects its part by torch.utils.data.get_worker_info()."
                   if loader.num_workers > 1 else "")
        warnings.warn(f"IterableDataset {loader.dataset} reported length {loader._counted} "
                      f"({expected} batches), but this is batch {given}."
                      + sharing, stacklevel=4)


def _pinning(loader):
    """The function that pins memory, or None."""
    if not loader.pin_memory:
        return None
    torch = needs_torch("pin_memory=True", "omit it")
    if not torch.cuda.is_available():
        warnings.warn("pin_memory=True has no effect, because torch finds no accelerator",
                      stacklevel=5)
        return None
    from torch.utils.data._utils.pin_memory import pin_memory
    device = loader.pin_memory_device or None
    return lambda batch: pin_memory(batch, device) if device else pin_memory(batch)


class Here(Epoch):
    """An epoch in the calling process: num_workers=0."""

    def __init__(self, loader, state):
        super().__init__(loader, state)
        if not loader._iterable:
            self._fetch = OfMap(loader.dataset, loader.collate_fn, loader._auto_collation)
            if self._dataset_state is not None:
                loader.dataset.load_state_dict(self._dataset_state)
            return
        self._open_dataset()
        now = self.at.now
        self.at.now = now._replace(made=[[now.made[0][0], self._fetch.state()]])

    def _open_dataset(self):
        loader, (made, state) = self._loader, self.at.now.made[0]
        before = self._before and self._before[0]
        fetch = OfIterable(loader.dataset, loader.collate_fn, loader._auto_collation,
                           loader.drop_last, state or before, ended=not state)
        if state is None:
            for number in range(made):
                fetch(self._index, number)
        self._fetch = fetch

    def _draw_seed(self, state):
        self.at.seed = self._loader._seed()

    def _take(self):
        if self.at.now.ended:
            return self._ends()
        return self._take_iterable() if self._loader._iterable else self._take_map()

    def _take_map(self):
        now = self.at.now
        while self._unsent and now.has(self._unsent[0]):
            self._unsent.popleft()
        number = self._draw_number()
        if number is None:
            return self._ends()
        batch = error = None
        try:
            batch = self._fetch(self._indices[number])
        except Exception as raised:
            error = raised
        self._out = Out(batch, error, now, now.gave(number), number)
        return self._out

    def _take_iterable(self):
        now = self.at.now
        if self._in_step and not self._fetch.goes_on():
            self._open_dataset()
        self._in_step = True
        try:
            batch = self._fetch(self._index, now.given)
        except StopIteration:
            self._in_step = False
            made = [[now.given, self._fetch.state()]]
            return self._ends()._replace(after=now.behind(ended=True, made=made))
        except Exception:
            self._in_step = False
            raise
        given = now.given + 1
        after = now.behind(given=given, made=[[given, self._fetch.state()]])
        self._out = Out(batch, None, now, after, None)
        self._in_step = False
        return self._out
