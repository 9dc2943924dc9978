"""Batches and their tensors."""

import sys

from ._arrays import known
from ._device import Arrival, device_of, send
from ._shown import counted, dtype_and_shape, never_raises, table

KINDS = ("torch", "numpy", "dlpack")


def kind_of_tensors(asked=None):
    """torch if it is imported, else numpy if it is installed, else dlpack."""
    if asked is not None:
        if asked not in KINDS:
            raise ValueError(f"tensors={asked!r}: expected one of {', '.join(KINDS)}")
        return asked
    if sys.modules.get("torch") is not None:
        return "torch"
    try:
        import numpy  # noqa: F401
    except ImportError:
        return "dlpack"
    return "numpy"


def _to_torch(tensor):
    import torch
    from torch.utils.dlpack import from_dlpack
    made = from_dlpack(tensor._bytes_capsule())
    return made.view(torch.bool) if tensor.dtype == "bool" else made


def _to_numpy(tensor):
    import numpy
    return numpy.asarray(tensor)


CONVERTERS = {"torch": _to_torch, "numpy": _to_numpy, "dlpack": lambda tensor: tensor}


def _copy_of(tensor):
    """A copy in separate memory."""
    if hasattr(tensor, "clone"):
        return tensor.clone()
    if isinstance(tensor, list):
        return [_copy_of(one) for one in tensor]
    return tensor.copy() if hasattr(tensor, "copy") else bytes(tensor)


class _Named:
    """Tensors by name, as attributes, and in order as in a tuple. Iterating yields the
    tensors, so it is not a Mapping: frameworks rebuild a Mapping from its items."""

    __slots__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __iter__(self):
        return iter(self.values())

    def __len__(self):
        return len(self.keys())

    def __contains__(self, name):
        return name in self.keys()

    def values(self):
        """The tensors, in order."""
        return [self[name] for name in self.keys()]

    def items(self):
        """Pairs of names and tensors."""
        return [(name, self[name]) for name in self.keys()]

    def get(self, name, default=None):
        """The tensor `name`, or `default` if it does not exist."""
        return self[name] if name in self.keys() else default

    def __dir__(self):
        return [*super().__dir__(), *self.keys()]


class Batch(_Named):
    """Several samples: each tensor is `[size, ...]`, in the memory of the graph.

    The memory returns to the graph when the batch and all tensors and views of it are gone. Until
    then no stage writes to it. `clone()` is a copy in separate memory.

    >>> import brigade
    >>> loader = brigade.Loader(brigade.examples.NUMBERS, tensors="numpy")
    >>> batch = next(iter(loader))
    >>> batch["data"].shape, batch.data is batch["data"], batch.size, batch.ids[:2]
    ((4, 2), True, 4, [0, 1])
    >>> (data,) = batch
    >>> loader.close()
    """

    __slots__ = ("_raw", "_kind", "_tensors", "_about", "_ways")

    def __init__(self, raw, kind, ways=None):
        self._raw, self._kind, self._tensors, self._about = raw, kind, {}, None
        self._ways = ways

    def _describe(self):
        if self._about is None:
            self._about = self._raw.describe()
        return self._about

    @property
    def size(self):
        """Number of samples."""
        return self._describe()[0]

    @property
    def epoch(self):
        """The epoch, from 0."""
        return self._describe()[1]

    @property
    def index(self):
        """Position of its first sample in the epoch."""
        return self._describe()[2]

    @property
    def source(self):
        """The input port, if the output reads several; otherwise empty."""
        return self._describe()[3]

    @property
    def ids(self):
        """Positions of its samples in their source, the same in every epoch."""
        return self._raw.ids()

    def keys(self):
        """Names of the tensors."""
        return self._raw.names()

    def __getitem__(self, name):
        try:
            return self._tensors[name]
        except KeyError:
            pass
        if isinstance(name, int):
            name = self.keys()[name]
        made = self._tensors[name] = self._make(name)
        return made

    def _make(self, name):
        tensor = self.tensor(name)
        convert = CONVERTERS[self._kind]
        if isinstance(self._raw, _Kept):
            return tensor
        if tensor.ragged:
            return [convert(known(self._raw.row(i, name))) for i in range(self.size)]
        return convert(tensor)

    def tensor(self, name):
        """The `brigade.Tensor`, which supports DLPack and the buffer protocol."""
        try:
            return known(self._raw.tensor(name))
        except ValueError as error:
            raise KeyError(str(error)) from None

    def row(self, i):
        """One sample: `batch.row(0)["boxes"]` has its actual shape, even if it is ragged."""
        if not -self.size <= i < self.size:
            raise IndexError(f"sample index {i} is out of range for a batch of {self.size}")
        return Row(self, i % self.size)

    def to(self, device, non_blocking=False):
        """A batch with its tensors on a device, as by `torch.Tensor.to`. It does not hold memory
        of the graph, unless the tensors are already there. To a GPU, the graph's memory is copied
        directly, pinned if possible. The copy is complete when this returns; with `non_blocking`
        the stream that first uses a tensor waits for it, and the memory is held until then.
        """
        if self._kind != "torch":
            raise TypeError(f'batch.to(): expected torch tensors, found {self._kind}; import '
                            'torch before the first batch, or pass tensors="torch"')
        where = device_of(device)
        sent = None if where is None or isinstance(self._raw, _Kept) else self._sent(where)
        if sent is not None:
            moved, upload = sent
            if not non_blocking:
                upload.wait()
                moved._raw.has_arrived()
            return moved
        if where is not None:
            device = where.where
        return self._with({name: [one.to(device, non_blocking=non_blocking) for one in value]
                           if isinstance(value, list) else
                           value.to(device, non_blocking=non_blocking)
                           for name, value in self.items()})

    def _sent(self, device):
        """The batch on the device, and the Upload; None: its run is closed."""
        uploads = None if self._ways is None else self._ways.to(device)
        if uploads is None:
            return None
        tensors, upload = send(self._raw, self.keys(), uploads, device)
        return self._with(tensors, Arrival(upload, device, tensors)), upload

    def clone(self):
        """A copy in separate memory that does not count toward `hold=`. Without NumPy
        and torch, the copy has only bytes, without dtype and shape."""
        return self._with({name: _copy_of(value) for name, value in self.items()})

    def _with(self, tensors, arrival=None):
        kept = _Kept(tuple(self.keys()), self._describe(), self._raw.samples(), tensors, arrival)
        return Batch(kept, self._kind)

    def __reduce__(self):
        kept = self if isinstance(self._raw, _Kept) else self.clone()
        return _restored, (kept._raw.names(), kept._raw.describe(), kept._raw.samples(),
                           kept._raw.tensors, self._kind)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self.clone()

    @never_raises("<brigade.Batch>")
    def __repr__(self):
        return f"Batch({_shown(self._rows())}; epoch {self.epoch}, index {self.index})"

    @never_raises(None)
    def _repr_html_(self):
        facts = [("epoch", self.epoch), ("index", self.index)]
        if self.source:
            facts.append(("source", self.source))
        return table(f"brigade.Batch of {counted(self.size, 'sample', 'samples')}", facts,
                     ("tensor", "dtype", "shape"), self._rows())

    def _rows(self):
        return [(name, *dtype_and_shape(self.tensor(name))) for name in self.keys()]


def _shown(rows):
    return ", ".join(f"{name}: {dtype}{'' if shape.startswith('[') else ' '}{shape}"
                     for name, dtype, shape in rows)


class _Kept:
    """The interface of the C module's batch, for tensors in separate memory."""

    __slots__ = ("_names", "_about", "_samples", "_tensors", "_arrival")

    def __init__(self, names, about, samples, tensors, arrival=None):
        self._names, self._about, self._samples, self._tensors = names, about, samples, tensors
        self._arrival = arrival  # is called before they are used

    @property
    def tensors(self):
        if self._arrival is not None:
            self._arrival()
            self.has_arrived()
        return self._tensors

    def has_arrived(self):
        self._arrival = None

    def samples(self):
        return self._samples

    def names(self):
        return self._names

    def describe(self):
        return self._about

    def sample(self, i):
        return self._samples[i]

    def ids(self):
        return [sample[3] for sample in self._samples]

    def tensor(self, name):
        if name not in self.tensors:
            raise ValueError(f"the batch has no tensor {name!r}; its tensors: "
                             f"{', '.join(self._names)}")
        return self.tensors[name]


def _restored(names, about, samples, tensors, kind):
    return Batch(_Kept(names, about, samples, tensors), kind)


class Row(_Named):
    """One sample of a batch, in the batch's memory."""

    __slots__ = ("_batch", "_i")

    def __init__(self, batch, i):
        self._batch, self._i = batch, i

    @property
    def id(self):
        """Its position in its source, the same in every epoch."""
        return self._batch._raw.sample(self._i)[3]

    @property
    def epoch(self):
        """The epoch, from 0."""
        return self._batch._raw.sample(self._i)[1]

    @property
    def index(self):
        """Its position in its epoch."""
        return self._batch._raw.sample(self._i)[2]

    def keys(self):
        """Names of the tensors."""
        return self._batch.keys()

    @never_raises("<brigade.Row>")
    def __repr__(self):
        shapes = _shown([(name, *dtype_and_shape(value)) for name, value in self.items()])
        return f"Row({shapes}; id {self.id}, epoch {self.epoch}, index {self.index})"

    def __getitem__(self, name):
        batch = self._batch
        if isinstance(batch._raw, _Kept):
            return batch[name][self._i]
        batch.tensor(name)  # names what there is
        return CONVERTERS[batch._kind](known(batch._raw.row(self._i, name)))
