"""brigade.shared(): values that all processes of one machine read from the same memory."""

import collections.abc
import fcntl
import os
import pickle
import struct
import sys
import weakref

from . import _shared_columns
from ._arena import _F_ADD_SEALS
from ._brigade import Mapping
from ._shared_readers import reader

_HEAD = struct.Struct("8s16s2q")  # a name, the identity, and where the description of columns lies
_NAME = b"brigade1"
_SEALS = 1 | 2 | 4 | 8  # SEAL, SHRINK, GROW, WRITE
_SHOWN = 3  # values of a repr

_stores = weakref.WeakValueDictionary()  # of this process, by identity


class _Store:
    """The memory, mapped into this process, and a descriptor of it for other processes."""

    def __init__(self, descriptor):
        mapping = Mapping(descriptor, 0, os.fstat(descriptor).st_size, private=True)
        self.memory = memoryview(mapping)
        _, self.identity, at, size = _HEAD.unpack_from(self.memory)
        self._columns = pickle.loads(self.memory[at:at + size])
        self._descriptor = descriptor
        _stores[self.identity] = self

    def __del__(self):
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)

    def column(self, number):
        return reader(self, number, *self._columns[number])

    def root(self):
        number = len(self._columns) - 1
        column = self.column(number)
        if self._columns[number][0] in ("arrays", "tensors"):
            return SharedArray._of(self, number, column)
        return column.get(0)

    @staticmethod
    def sequence(store, number, column, at):
        return SharedSequence._of(store, number, column, at, False)

    @staticmethod
    def tuple(store, number, column, at):
        if len(at) <= _shared_columns.WIDTH_MAX:
            return tuple(map(column.get, at))
        return SharedSequence._of(store, number, column, at, True)

    @staticmethod
    def mapping(store, number, column, i):
        return SharedMapping._of(store, number, column, i)

    def __reduce__(self):
        context = sys.modules.get("multiprocessing.context")
        if context is not None and context.get_spawning_popen() is not None:
            from multiprocessing.reduction import DupFd
            return _handed, (self.identity, DupFd(self._descriptor))
        return _opened, (self.identity, os.getpid(), self._descriptor)


def _handed(identity, handed):
    descriptor = handed.detach()
    found = _stores.get(identity)
    if found is None:
        return _Store(descriptor)
    os.close(descriptor)
    return found


def _opened(identity, process, descriptor):
    found = _stores.get(identity)
    if found is not None:
        return found
    try:
        own = os.open(f"/proc/{process}/fd/{descriptor}", os.O_RDONLY)
    except PermissionError as error:
        raise PermissionError(f"a shared value of process {process} cannot be opened ({error}); "
                              "run both processes as the same user") from None
    except OSError:
        raise _gone(process) from None
    try:
        if os.pread(own, _HEAD.size, 0)[:len(_NAME + identity)] == _NAME + identity:
            return _Store(own)
    except OSError:  # it is a pipe now
        pass
    os.close(own)
    raise _gone(process)


def _gone(process):
    return FileNotFoundError(
        f"a shared value no longer exists: process {process}, which pickled it, has ended, has "
        "dropped its last reference, or ran on another machine. Keep a reference there until "
        "this process has read the pickle; to store a value in a file, pickle its copy()")


def _written(value, is_tuple):
    descriptor = os.memfd_create("brigade-shared", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        writer = _shared_columns.Writer(descriptor, _HEAD.size)
        writer.column([list(value) if is_tuple else value], lambda _: "x")
        table = writer.put(pickle.dumps(writer.columns))
        os.pwrite(descriptor, _HEAD.pack(_NAME, os.urandom(16), *table), 0)
        fcntl.fcntl(descriptor, _F_ADD_SEALS, _SEALS)
        return _Store(descriptor)
    except BaseException:
        os.close(descriptor)
        raise


def shared(x):
    """An immutable copy of a list, tuple or dict that all processes of this machine read from the
    same memory: workers of a DataLoader, forked or not, and each process that unpickles it. All of
    them share one copy. A Python list is copied into each worker, at once or page by page as
    reference counts are written.

    Values are strings, bytes, numbers, None, NumPy arrays, CPU tensors, and lists, tuples
    and dicts of those. Indexing creates the Python object of that value: nested lists and dicts are
    sequences and mappings like `x`, tuples are tuples, arrays are read-only views of the memory.
    `copy()` creates ordinary lists and dicts. A single array or tensor becomes a SharedArray.

    A pickle does not contain the values: it names the process that wrote it, which must keep a
    reference until the reader has unpickled. TypeError: an unsupported type, with its place.

    >>> import brigade
    >>> paths = brigade.shared(["a.jpg", "b.jpg", "c.jpg"])
    >>> paths[0], len(paths), paths[1:].copy(), "c.jpg" in paths
    ('a.jpg', 3, ['b.jpg', 'c.jpg'], True)
    >>> index = brigade.shared({"cat": [0, 2], "dog": [1]})
    >>> index["cat"][1], index.get("cow"), list(index)
    (2, None, ['cat', 'dog'])
    """
    if isinstance(x, (SharedSequence, SharedMapping, SharedArray)):
        return x
    is_array = type(x) in (getattr(sys.modules.get("numpy"), "ndarray", None),
                           getattr(sys.modules.get("torch"), "Tensor", None))
    if not is_array and not isinstance(x, (list, tuple, dict)):
        raise TypeError("brigade.shared() takes a list, a tuple, a dict, a NumPy array or a "
                        f"tensor, found a {type(x).__name__}")
    made = _written(x, isinstance(x, tuple)).root()
    return made._as_tuple() if isinstance(x, tuple) else made


def _plain(value):
    if isinstance(value, (SharedSequence, SharedMapping)):
        return value.copy()
    return tuple(map(_plain, value)) if type(value) is tuple else value


def _short(values, length, left, right, of_one=repr):
    shown = [of_one(value) for value, _ in zip(values, range(_SHOWN))]
    if length > _SHOWN:
        shown.append(f"... {length:,} in all")
    return f"shared({left}{', '.join(shown)}{right})"


class _Immutable:
    """Common parts of the three classes."""

    __slots__ = ("_store", "_number", "_column")
    __hash__ = None

    def __init__(self):
        raise TypeError(f"a {type(self).__name__} is created by brigade.shared()")

    @classmethod
    def _of(cls, store, number, column, *state):
        """`column`: the reader of the column with this number; None when unpickled."""
        made = object.__new__(cls)
        made._store, made._number = store, number
        made._column = store.column(number) if column is None else column
        made._set(*state)
        return made

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class SharedSequence(_Immutable, collections.abc.Sequence):
    """A list or tuple in shared memory, made by `shared()`. A slice of it is also one."""

    __slots__ = ("_at", "_is_tuple", "_get")

    def _set(self, at, is_tuple):
        self._at, self._is_tuple, self._get = at, is_tuple, self._column.get

    def _part(self, at, is_tuple):
        return SharedSequence._of(self._store, self._number, self._column, at, is_tuple)

    def _as_tuple(self):
        return self._part(self._at, True)

    def __getitem__(self, i):
        try:
            at = self._at[i]
        except IndexError:
            raise IndexError(f"index {i} of a shared sequence of {len(self):,}") from None
        if type(at) is range:
            return self._part(at, self._is_tuple)
        return self._get(at)

    def __len__(self):
        return len(self._at)

    def __iter__(self):
        return map(self._get, self._at)

    def __reversed__(self):
        return map(self._get, reversed(self._at))

    def __contains__(self, value):
        return any(one is value or one == value for one in self)

    def __eq__(self, other):
        if isinstance(other, SharedSequence):
            if self._is_tuple != other._is_tuple:
                return False
            if self._store is other._store and (self._number, self._at) == (other._number,
                                                                            other._at):
                return True
        elif not isinstance(other, tuple if self._is_tuple else list):
            return super().__eq__(other)
        return len(self) == len(other) and all(one == two for one, two in zip(self, other))

    def copy(self):
        """An ordinary list or tuple; lists and dicts inside are also ordinary ones."""
        return (tuple if self._is_tuple else list)(map(_plain, self))

    def __repr__(self):
        return _short(self, len(self), *("()" if self._is_tuple else "[]"))

    def __reduce__(self):
        return SharedSequence._of, (self._store, self._number, None, self._at, self._is_tuple)


class SharedMapping(_Immutable, collections.abc.Mapping):
    """A dict in shared memory, made by `shared()`, in the order of that dict."""

    __slots__ = ("_i",)

    def _set(self, i):
        self._i = i

    def __getitem__(self, key):
        return self._column.find(self._i, key)

    def __len__(self):
        return self._column.size(self._i)

    def __iter__(self):
        return self._column.keys(self._i)

    def values(self):
        """A view of the values, in order."""
        return _Values(self)

    def items(self):
        """A view of the items, in order."""
        return _Items(self)

    def copy(self):
        """An ordinary dict; lists and dicts inside are also ordinary ones."""
        return {key: _plain(value) for key, value in self.items()}

    def __repr__(self):
        return _short(self.items(), len(self), *"{}", lambda item: f"{item[0]!r}: {item[1]!r}")

    def __reduce__(self):
        return SharedMapping._of, (self._store, self._number, None, self._i)


class _Values(collections.abc.ValuesView):
    __slots__ = ()

    def __iter__(self):
        return self._mapping._column.values(self._mapping._i)


class _Items(collections.abc.ItemsView):
    __slots__ = ()

    def __iter__(self):
        return zip(self._mapping, self._mapping.values())


class SharedArray(_Immutable):
    """A NumPy array or torch tensor in shared memory, made by `shared()`. `x[...]` and
    every other index work as for the array: its rows, without a copy."""

    __slots__ = ("_whole",)

    def _set(self):
        self._whole = self._column.get(0)

    def __getitem__(self, index):
        return self._whole[index]

    def __len__(self):
        return len(self._whole)

    def __array__(self, dtype=None, copy=None):
        import numpy
        return numpy.array(self._whole, dtype=dtype) if copy else \
            numpy.asarray(self._whole, dtype=dtype)

    @property
    def shape(self):
        """Shape of the array."""
        return tuple(self._whole.shape)

    @property
    def dtype(self):
        """A dtype of NumPy or torch."""
        return self._whole.dtype

    def copy(self):
        """An ordinary array or tensor."""
        return self._whole.clone() if hasattr(self._whole, "clone") else self._whole.copy()

    def __repr__(self):
        return f"shared({type(self._whole).__name__} {self.dtype} {list(self.shape)})"

    def __reduce__(self):
        return SharedArray._of, (self._store, self._number, None)


def _again(writer, values, path):
    return "same", writer.column([value.copy() for value in values], path)


_shared_columns._WRITERS.update({SharedSequence: _again, SharedMapping: _again})
