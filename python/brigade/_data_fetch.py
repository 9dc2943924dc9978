"""How a DataLoader makes a batch of a dataset, in workers and in the calling process."""

import collections
import inspect
import itertools
import random
import sys

WorkerInfo = collections.namedtuple("WorkerInfo", "id num_workers seed dataset")
WorkerInfo.__doc__ = "What get_worker_info() says; `dataset` is this worker's own copy."
_worker_info = None


def get_worker_info():
    """In a worker of a DataLoader: its id, num_workers, seed and dataset, as
    torch.utils.data.get_worker_info() says it, too. None elsewhere."""
    return _worker_info


def set_worker_info(info):
    global _worker_info
    _worker_info = info
    if sys.modules.get("torch") is not None:
        import torch.utils.data._utils.worker as torch_worker
        torch_worker._worker_info = torch_worker.WorkerInfo(**info._asdict())


def needs_torch(what, instead):
    try:
        import torch.utils.data
    except ImportError:
        raise ImportError(f"{what} needs torch, which is not installed: pip install torch, or "
                          f"{instead}") from None
    return torch


class OfMap:
    """Of a dataset with __getitem__()."""

    def __init__(self, dataset, collate, batched):
        self._dataset, self._collate, self._batched = dataset, collate, batched

    def __call__(self, index):
        try:
            return self._collate(self._samples(index))
        except StopIteration as error:  # which would end the epoch without a word
            raise RuntimeError("the dataset has raised StopIteration") from error

    def _samples(self, index):
        if not self._batched:
            return self._dataset[index]
        several = getattr(self._dataset, "__getitems__", None)
        return several(index) if several else [self._dataset[i] for i in index]


def _takes(method, given):
    """Whether it can be called with so many arguments; what has no signature is tried."""
    try:
        inspect.signature(method).bind(*[None] * given)
    except TypeError:
        return False
    except ValueError:
        pass
    return True


def has_state(one):
    """Whether it has torchdata's state_dict() and load_state_dict(state). Methods of that name
    that want more, as StreamingDataset has them, are for a loader of their own."""
    saves, loads = getattr(one, "state_dict", None), getattr(one, "load_state_dict", None)
    return callable(saves) and callable(loads) and _takes(saves, 0) and _takes(loads, 1)


_NOTHING = object()


class OfIterable:
    """Of a dataset with __iter__(): StopIteration where nothing is left. `index` says how many
    samples make a batch. `state`: what state() said, in the middle of this epoch, or else, where
    `ended`, when the one before it was over."""

    def __init__(self, dataset, collate, batched, drop_last, state=None, ended=False):
        self._collate, self._batched, self._drop_last = collate, batched, drop_last
        of_dataset, of_iterator, had_ended = state or (None, None, False)
        if of_dataset is not None:
            dataset.load_state_dict(of_dataset)
        self._iterator = iter(dataset)
        is_dataset = self._is_dataset = self._iterator is dataset
        if of_iterator is not None and (is_dataset or not ended):
            self._iterator.load_state_dict(of_iterator)
            if ended:
                self._iterator = iter(dataset)
        self._ended = had_ended and not ended
        if self._ended and next(self._iterator, _NOTHING) is not _NOTHING:
            # The dataset was ready for the next epoch, and is again.
            stateful = self._iterator if of_dataset is None else dataset
            stateful.load_state_dict(of_iterator if of_dataset is None else of_dataset)
        self._taken = None, []  # number of a batch, and its samples
        self._stateful = [one if has_state(one) else None
                          for one in (None if is_dataset else dataset, self._iterator)]

    def __call__(self, index, number=None):
        """`number`: of the batch. Samples that were taken before an exception are in it when it is
        asked for again."""
        if number is None or number != self._taken[0]:
            self._taken = number, []
        samples = self._taken[1]
        most = len(index) if self._batched else 1
        if not self._ended:
            # One call takes and keeps them. islice() would call iter() once more.
            samples.extend(map(next, itertools.repeat(self._iterator, most - len(samples))))
            self._ended = self._batched and len(samples) < most
        if not samples or (self._ended and self._drop_last):
            raise StopIteration
        return self._collate(samples[:] if self._batched else samples[0])

    def goes_on(self):
        """Whether the iterator survives an exception of its own, or is all there is."""
        return self._is_dataset and self._stateful[1] is None or \
            getattr(self._iterator, "gi_frame", None) is not None

    def state(self):
        """What the dataset says, and what its iterator says where that is another object; None
        where both say nothing."""
        if all(one is None for one in self._stateful):
            return None
        said = [None if one is None else one.state_dict() for one in self._stateful]
        return [*said, self._ended]


# --- generators -----------------------------------------------------------------------------------

def _mixed(*words):
    """64 bits of several numbers: the finalizer of MurmurHash3 over their sums."""
    mask, state = (1 << 64) - 1, 0x9E3779B97F4A7C15
    for word in words:
        state = (state + word) & mask
        state = ((state ^ (state >> 33)) * 0xFF51AFD7ED558CCD) & mask
        state = ((state ^ (state >> 33)) * 0xC4CEB9FE1A85EC53) & mask
        state ^= state >> 33
    return state


def _states():
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    legacy = numpy and numpy.random.get_state()
    return (random.getstate(), legacy and (legacy[0], legacy[1].tobytes(), *legacy[2:]),
            torch and (torch.initial_seed(), torch.get_rng_state().tolist()))


def _seed_all(seed, of_numpy, of_torch):
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    random.seed(seed)
    if numpy:
        numpy.random.seed(of_numpy)
    if torch:
        torch.default_generator.manual_seed(of_torch)


def _seed_as_torch(base, worker_id):
    """Of a worker of torch's DataLoader, which mixes the words for NumPy as SeedSequence does."""
    numpy, of_numpy = sys.modules.get("numpy"), None
    if numpy:
        words = [worker_id, base & 0xFFFFFFFF, base >> 32, 0]
        of_numpy = numpy.random.SeedSequence(words).generate_state(4)
    _seed_all(base + worker_id, of_numpy, base + worker_id)


class Generators:
    """Those of `random`, NumPy and torch, in a worker. They are seeded before each batch by its
    number. A worker_init_fn that seeds one of them, or draws from it, makes all three those of
    torch's workers: seeded once, before that function."""

    def __init__(self, base, worker_init_fn, worker_id):
        self._ours, self._left = True, None
        if worker_init_fn is None:
            return
        _seed_as_torch(base, worker_id)
        before = _states()
        worker_init_fn(worker_id)
        self._ours = before == _states()

    def begin(self, *numbers):
        """Of the batch with these numbers. NumPy takes a number of 32 bits in a tenth of the time
        that an array of them needs. torch's generator on the CPU is the same one, and heeds the low
        32 bits: NumPy's are others, so that the two do not draw the same."""
        if self._ours:
            seed = _mixed(*numbers)
            _seed_all(seed, seed >> 32, seed & ((1 << 63) - 1))

    def leave(self):
        """Another iterator's dataset makes a batch here."""
        if not self._ours:
            numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
            self._left = (random.getstate(), numpy and numpy.random.get_state(),
                          torch and torch.get_rng_state())

    def go_on(self):
        if self._left is not None:
            of_random, of_numpy, of_torch = self._left
            random.setstate(of_random)
            if of_numpy:
                sys.modules["numpy"].random.set_state(of_numpy)
            if of_torch is not None:
                sys.modules["torch"].set_rng_state(of_torch)
