"""How a DataLoader creates a batch from a dataset, in workers and in the calling process."""

import collections
import inspect
import itertools
import random
import sys

WorkerInfo = collections.namedtuple("WorkerInfo", "id num_workers seed dataset")
WorkerInfo.__doc__ = "Result of get_worker_info(); `dataset` is this worker's own copy."
_worker_info = None


def get_worker_info():
    """In a worker of a DataLoader: its id, num_workers, seed and dataset, like
    torch.utils.data.get_worker_info(). None elsewhere."""
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
        raise ImportError(f"{what} needs torch, which is not installed; pip install torch, or "
                          f"{instead}") from None
    return torch


class OfMap:
    """Fetches batches of a dataset with __getitem__()."""

    def __init__(self, dataset, collate, batched):
        self._dataset, self._collate, self._batched = dataset, collate, batched

    def __call__(self, index):
        try:
            return self._collate(self._samples(index))
        except StopIteration as error:  # which would end the epoch without a word
            raise RuntimeError("the dataset raised StopIteration") from error

    def _samples(self, index):
        if not self._batched:
            return self._dataset[index]
        several = getattr(self._dataset, "__getitems__", None)
        return several(index) if several else [self._dataset[i] for i in index]


def _takes(method, given):
    """True if it can be called with this many arguments, or has no signature."""
    try:
        inspect.signature(method).bind(*[None] * given)
    except TypeError:
        return False
    except ValueError:
        pass
    return True


def has_state(one):
    """True if it has torchdata's state_dict() and load_state_dict(state). Methods of these names
    with more parameters, as in StreamingDataset, belong to another loader."""
    saves, loads = getattr(one, "state_dict", None), getattr(one, "load_state_dict", None)
    return callable(saves) and callable(loads) and _takes(saves, 0) and _takes(loads, 1)


_NOTHING = object()


class OfIterable:
    """Fetches batches of a dataset with __iter__(); StopIteration at the end. `index` is the number
    of samples of a batch. `state`: the result of state() in the middle of this epoch, or, if
    `ended`, at the end of the previous one."""

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
        """`number`: of the batch. Samples taken before an exception are in it when the batch is
        requested again."""
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
        """True if the iterator survives its own exceptions, or is the whole dataset."""
        return self._is_dataset and self._stateful[1] is None or \
            getattr(self._iterator, "gi_frame", None) is not None

    def state(self):
        """States of the dataset and, if it is another object, of its iterator; None if neither has
        one."""
        if all(one is None for one in self._stateful):
            return None
        said = [None if one is None else one.state_dict() for one in self._stateful]
        return [*said, self._ended]


# --- generators -----------------------------------------------------------------------------------

def _mixed(*words):
    """Hashes several numbers to 64 bits: the finalizer of MurmurHash3 over their sums."""
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
    """Seeds all as a worker of torch's DataLoader, which mixes NumPy's words by SeedSequence."""
    numpy, of_numpy = sys.modules.get("numpy"), None
    if numpy:
        words = [worker_id, base & 0xFFFFFFFF, base >> 32, 0]
        of_numpy = numpy.random.SeedSequence(words).generate_state(4)
    _seed_all(base + worker_id, of_numpy, base + worker_id)


class Generators:
    """The generators of `random`, NumPy and torch in a worker. They are seeded before each batch by
    its number. If worker_init_fn seeds one of them or draws from it, all three behave as in torch's
    workers: they are seeded once, before that function."""

    def __init__(self, base, worker_init_fn, worker_id):
        self._ours, self._left = True, None
        if worker_init_fn is None:
            return
        _seed_as_torch(base, worker_id)
        before = _states()
        worker_init_fn(worker_id)
        self._ours = before == _states()

    def begin(self, *numbers):
        """Seeds all for the batch with these numbers. NumPy is seeded by 32 bits, which takes a
        tenth of the time of an array. torch has the same algorithm on the CPU and uses the low 32
        bits; NumPy gets other bits, so that the two draw different numbers."""
        if self._ours:
            seed = _mixed(*numbers)
            _seed_all(seed, seed >> 32, seed & ((1 << 63) - 1))

    def leave(self):
        """Saves the states before the dataset of another iterator creates a batch here."""
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
