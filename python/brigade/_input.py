"""Inputs of a run, which a program feeds."""

from ._place import place_of_caller


class Input:
    """A `producer: application` of a run, from `Run.input()`.

    >>> import brigade
    >>> with brigade.open(brigade.examples.SQUARES, tensors="numpy") as run:
    ...     tasks = run.input("tasks")
    ...     for i in range(4):
    ...         slot = tasks.acquire()
    ...         slot["x"] = [i, i * i]
    ...         slot.submit()
    ...     tasks.close()
    ...     [batch["x"].tolist() for batch in run["results"]]
    [[[0.0, 0.0], [1.0, 1.0]], [[2.0, 4.0], [3.0, 9.0]]]

    Only one thread at a time acquires; another thread may read the outputs.
    """

    __slots__ = ("_input", "_kind")

    def __init__(self, handle, kind):
        self._input, self._kind = handle, kind

    def acquire(self, timeout=None):
        """The next slot, one sample. Waits until the graph has room, at most `timeout` seconds.
        None if the run accepts no more (it was stopped or failed; `Run.wait()` says which), or
        after the timeout (`ended()` is False then).

        HeldError: the program held all slots of a task (`chunk:`) for `hold_timeout:`. UnreadError:
        the graph is full of results that this thread has not read. Both leave the run unchanged."""
        if timeout is not None and timeout < 0:
            raise ValueError(f"timeout={timeout}: expected seconds, or None for no timeout")
        file, line = place_of_caller(2)
        raw = self._input.acquire(-1 if timeout is None else timeout, file, line)
        return None if raw is None else Slot(raw, self._kind)

    def end_epoch(self):
        """Ends the epoch: the next acquired slot is the first sample of the next of `epochs:`."""
        self._input.end_epoch()

    def ended(self):
        """True if the run accepts no more samples."""
        return self._input.ended()

    def close(self):
        """Ends the input: no more samples follow. Held slots may still be submitted."""
        self._input.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Slot:
    """Memory of the graph for one sample. Deleting a slot without submit() drops its
    sample.

    `slot["x"]` is the tensor to write, as a NumPy array (a torch tensor if the run has torch's; a
    memoryview without NumPy): `slot["x"][...] = values`. `slot["x"] = values` copies, and sets the
    shape of a ragged tensor. Delete all arrays of a slot before you submit it: after that the
    graph uses the memory.
    """

    __slots__ = ("_raw", "_kind")

    def __init__(self, raw, kind):
        self._raw, self._kind = raw, kind

    def keys(self):
        return self._raw.names()

    def __getitem__(self, name):
        return _array(self._tensor(name), self._kind)

    def __setitem__(self, name, values):
        tensor = self._tensor(name)
        view = memoryview(tensor)
        made = _values(values, tensor.dtype)
        if tensor.ragged and tuple(made.shape) != view.shape:
            self.resize(name, made.shape)
            view = memoryview(self._tensor(name))
        elif tuple(made.shape) != view.shape:
            raise ValueError(f"tensor {name} has shape {list(view.shape)}, found "
                             f"{list(made.shape)}")
        if view.nbytes:
            view.cast("B")[:] = memoryview(made).cast("B")

    def resize(self, name, shape):
        """Sets the shape of a ragged tensor for this sample, within its bounds. Earlier arrays of
        it keep the old shape."""
        self._raw.resize(name, tuple(int(size) for size in shape))

    @property
    def index(self):
        """Position of the sample in its epoch."""
        return self._raw.sample()[2]

    @property
    def epoch(self):
        return self._raw.sample()[1]

    def submit(self):
        """Passes the sample to the graph. BufferError: an array of it still exists. ValueError:
        a ragged tensor has a shape that `tensors:` does not allow. RunError: the run has ended."""
        self._raw.submit()

    def drop(self):
        """Drops the sample."""
        self._raw.drop()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        """Submits; drops after an exception."""
        if self._raw.held:
            self.drop() if kind else self.submit()

    def _tensor(self, name):
        try:
            return self._raw.tensor(name)
        except ValueError as error:
            if self._raw.held:
                raise KeyError(str(error)) from None
            raise


def _array(tensor, kind):
    try:
        import numpy
    except ImportError:
        return memoryview(tensor)
    made = numpy.asarray(tensor)
    if kind != "torch":
        return made
    import torch
    made = torch.from_numpy(made)
    return made.view(torch.bfloat16) if tensor.dtype == "bfloat16" else made


def _values(values, dtype):
    """Contiguous, of that dtype, as a buffer with a shape."""
    if hasattr(values, "detach"):  # of torch
        import torch
        values = values.detach().to("cpu", getattr(torch, dtype)).contiguous()
        return (values.view(torch.int16) if dtype == "bfloat16" else values).numpy()
    try:
        import numpy
    except ImportError:
        made = memoryview(values)
        if dtype != "uint8":
            raise TypeError(f"copying {dtype} values needs NumPy, which is not installed; write "
                            "to the memoryview slot[name]") from None
        return made
    if dtype == "bfloat16":
        raise TypeError("NumPy does not support bfloat16; pass a torch tensor")
    if isinstance(values, (bytes, bytearray, memoryview)):
        return memoryview(values)
    return numpy.ascontiguousarray(values, dtype).reshape(numpy.shape(values))
