"""A drop-in for torch's DataLoader with Brigade's workers."""

import itertools
import numbers
import random
import sys
import threading
import types
import typing
import weakref

from . import _data_states
from ._data_epoch import Here
from ._data_epochs import InWorkers
from ._data_fetch import needs_torch
from ._data_layout import Changes
from ._data_pool import start_method
from ._data_torch import Workers, become_torch_s
from ._errors import whole
from ._events import checked
from ._forker import needs_server_soon, server
from ._frameworks import tell_untested

_WORKERS_MAX = 256  # replicas of a stage
_PREFETCH_MAX = 1024  # batches ahead, of each: `buffers:` can be twice as many
_SET_ONCE = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers",
             "on_event")


def _is_iterable(dataset):
    kind = getattr(sys.modules.get("torch.utils.data"), "IterableDataset", ())
    return isinstance(dataset, kind) or (
        hasattr(dataset, "__iter__") and not hasattr(dataset, "__getitem__"))


class _InBatches:
    """A batch sampler for use without torch."""

    def __init__(self, sampler, batch_size, drop_last):
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self):
        whole, rest = divmod(len(self.sampler), self.batch_size)
        return whole + (rest > 0 and not self.drop_last)


class _Base(typing.Generic[typing.TypeVar("T")]):
    """Stands in for torch's DataLoader until torch is imported. Python replaces a base class only
    by one with the same bases."""


class DataLoader(_Base):
    """torch's DataLoader, with the same parameters and workers run by Brigade: batches come in
    the same order with the same contents for any number of workers, even if workers are killed.

    >>> import brigade
    >>> class Squares:
    ...     def __len__(self): return 10
    ...     def __getitem__(self, i): return i * i
    >>> loader = brigade.DataLoader(Squares(), batch_size=4, collate_fn=list)
    >>> for batch in loader:
    ...     print(batch)
    [0, 1, 4, 9]
    [16, 25, 36, 49]
    [64, 81]

    `num_workers=0` creates batches in the calling process. Otherwise tensors and arrays of a batch
    are in memory shared with the workers, without a copy, while a reference to one of them exists.
    Workers are forks of the program, with all its imports and settings. If a fork is not
    safe, they are forked from a server, and the dataset is pickled. They end with their iterator
    or, with `persistent_workers`, with the loader.

    `on_event`: a function that another thread calls with each `Event` of the workers; batches do
    not wait for it.

    torch is required for `shuffle=True` and if there is no `collate_fn`. docs/DATA_LOADER.md lists
    the differences from torch's.
    """

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None,
                 num_workers=0, collate_fn=None, pin_memory=False, drop_last=False, timeout=0,
                 worker_init_fn=None, multiprocessing_context=None, generator=None, *,
                 prefetch_factor=None, persistent_workers=False, pin_memory_device="",
                 in_order=True, on_event=None):
        self._check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self._iterable = _is_iterable(dataset)
        self._check_samplers(dataset, batch_size, shuffle, sampler, batch_sampler, drop_last)
        self._context = _checked_context(multiprocessing_context, num_workers)
        if batch_sampler is not None:
            batch_size = None
        if sampler is None:
            sampler = self._default_sampler(dataset, shuffle, generator)
        if batch_size is not None:
            batch_sampler = _batches_of(sampler, batch_size, drop_last)
        if collate_fn is None:
            torch = needs_torch("the default collate_fn", "pass your own")
            collate = torch.utils.data._utils.collate
            collate_fn = collate.default_convert if batch_sampler is None else \
                collate.default_collate
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.sampler, self.batch_sampler, self.generator = sampler, batch_sampler, generator
        self.on_event = checked(getattr(num_workers, "on_event", None) if on_event is None else
                                on_event)
        self.num_workers, self.timeout, self.in_order = num_workers, timeout, in_order
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.collate_fn, self.worker_init_fn = collate_fn, worker_init_fn
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.persistent_workers = persistent_workers
        self._pool = self._payload = self._counted = None
        self._position = None  # of the epoch that was begun last; a dict: where the next one begins
        self._last = None  # with persistent_workers, that epoch's iterator, as a weak reference
        self._seeds = None  # of persistent workers: seed, epoch, key
        self._pools = weakref.WeakSet()  # that are open
        self._served, self._said = False, False  # workers are a server's; a fork was warned of
        self._live = set()  # keys of iterators that have tasks
        self._told = False  # of ranks
        self._changes = Changes()
        self._lock = threading.RLock()
        if num_workers and (start_method(self._context) in ("spawn", "forkserver") or
                            needs_server_soon()):
            server()  # its imports are made beside what the program does now
        self.__initialized = True  # by the name that torch's has, which subclasses set

    __initialized = False
    __class_getitem__ = classmethod(types.GenericAlias)

    # --- parameters -------------------------------------------------------------------------------

    @staticmethod
    def _check_workers(num_workers, timeout, prefetch_factor, persistent_workers):
        whole("num_workers", num_workers, 0, _WORKERS_MAX)
        if not isinstance(timeout, numbers.Real) or timeout < 0:
            kind = ValueError if isinstance(timeout, numbers.Real) else TypeError
            raise kind(f"timeout={timeout!r}: expected non-negative seconds; 0 means no timeout")
        if prefetch_factor is not None:
            if num_workers == 0:
                raise ValueError(f"prefetch_factor={prefetch_factor} needs num_workers > 0: it "
                                 "is the number of batches that each worker prefetches")
            whole("prefetch_factor", prefetch_factor, 1, _PREFETCH_MAX)
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers=True needs num_workers > 0")

    def _check_samplers(self, dataset, batch_size, shuffle, sampler, batch_sampler, drop_last):
        if self._iterable:
            if type(dataset).__module__.startswith("torch.utils.data.datapipes"):
                raise ValueError(f"{type(dataset).__name__} is a DataPipe, which torch shuffles "
                                 "and shards in its own way; wrap it in an IterableDataset")
            for name, value in (("shuffle", shuffle or None), ("sampler", sampler),
                                ("batch_sampler", batch_sampler)):
                if value is not None:
                    raise ValueError(f"{name}={value}: an iterable dataset has its own order; "
                                     f"omit {name}")
        if sampler is not None and shuffle:
            raise ValueError("sampler and shuffle=True are mutually exclusive; the sampler "
                             "defines the order")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or
                                          drop_last):
            raise ValueError("batch_sampler is mutually exclusive with batch_size, shuffle, "
                             "sampler and drop_last; it replaces them")
        if batch_size is None and drop_last:
            raise ValueError("batch_size=None is mutually exclusive with drop_last=True, "
                             "because there are no batches")
        if batch_size is not None and (not isinstance(batch_size, int) or
                                       isinstance(batch_size, bool) or batch_size < 1):
            raise ValueError(f"batch_size={batch_size!r}: expected a positive integer, or None")

    def _default_sampler(self, dataset, shuffle, generator):
        if self._iterable:
            return itertools.repeat(None)
        if shuffle:
            data = needs_torch("shuffle=True", "pass your own sampler").utils.data
            return data.RandomSampler(dataset, generator=generator)
        torch = sys.modules.get("torch")
        return range(len(dataset)) if torch is None else \
            torch.utils.data.SequentialSampler(dataset)

    @property
    def multiprocessing_context(self):
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        self._context = _checked_context(context, self.num_workers)

    def __setattr__(self, name, value):
        if self.__initialized and name in _SET_ONCE:
            raise ValueError(f"{name} of a {type(self).__name__} cannot be changed; create a new "
                             "one")
        super().__setattr__(
            name, Workers(value, self.on_event) if name == "num_workers" else value)

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    # --- iteration --------------------------------------------------------------------------------

    def __iter__(self):
        """An iterator over an epoch. Workers start at once."""
        before = self._position
        try:
            return self._get_iterator()
        except BaseException:
            self._position = before  # no epoch has begun
            raise

    def _get_iterator(self):  # as torch's has it, for subclasses
        tell_untested()
        with self._lock:
            state = _data_states.to_resume(self)
            if self.num_workers == 0:
                iterator = Here(self, state)
            else:
                self._leave()
                iterator = InWorkers(self, state)
                if self.persistent_workers:
                    self._last = weakref.ref(iterator)
            self._position = iterator.at
            return iterator

    def _leave(self):
        """Ends the current epoch: persistent workers process one epoch at a time."""
        last = self._last and self._last()
        if last is not None:
            last.close()

    def __len__(self):
        if not self._iterable:
            return len(self._index_sampler)
        length = self._counted = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)

    def _seed(self):
        torch = sys.modules.get("torch")
        if torch is None:
            return random.getrandbits(62)
        return int(torch.empty((), dtype=torch.int64).random_(generator=self.generator).item())

    def close(self):
        """Ends the workers. Held batches stay valid; the next iter() starts new
        workers."""
        with self._lock:
            for pool in list(self._pools):
                pool.close()
            self._pool = self._payload = self._seeds = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __getstate__(self):
        left = ("_pool", "_pools", "_payload", "_last", "_lock", "_live", "_seeds",
                "_changes")
        return {**self.__dict__, **dict.fromkeys(left)}

    def __setstate__(self, state):
        self.__dict__.update(state, _live=set(),
                             _lock=threading.RLock(), _changes=Changes(),
                             _pools=weakref.WeakSet(),
                             num_workers=Workers(state["num_workers"], state["on_event"]))

    # --- positions --------------------------------------------------------------------------------

    def state_dict(self):
        """The position after the last batch that the loop received, as in torchdata's
        StatefulDataLoader: for load_state_dict() of a loader with the same parameters. num_workers
        of a map-style dataset may differ. It includes the state of `generator`, or of torch's own
        generator, at the start of the epoch."""
        return _data_states.state_of(self)

    def load_state_dict(self, state):
        """The next iter() yields the rest of that epoch."""
        _data_states.check(state, self)
        with self._lock:
            self._leave()
            self._position = state


def _checked_context(context, num_workers):
    if context is None:
        return None
    import multiprocessing
    if num_workers == 0:
        raise ValueError("multiprocessing_context needs num_workers > 0")
    if isinstance(context, str):
        if context not in multiprocessing.get_all_start_methods():
            raise ValueError(f"multiprocessing_context={context!r}: expected one of "
                             f"{', '.join(multiprocessing.get_all_start_methods())}")
        context = multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError(f"multiprocessing_context={context!r}: expected a multiprocessing "
                        "context or its name")
    return context


def _batches_of(sampler, batch_size, drop_last):
    torch = sys.modules.get("torch")
    kind = _InBatches if torch is None else torch.utils.data.BatchSampler
    return kind(sampler, batch_size, drop_last)


become_torch_s(DataLoader)
