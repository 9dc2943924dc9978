"""The memory of brigade.shared(): values of one kind lie in a column, as arrays of their bytes.

A list of strings is a column of offsets and text, a list of dicts with the same keys a column for
each key, a list of lists the offsets and one column of all their elements. Where kinds differ, each
kind has a column, and each element a kind and a place. Nothing in it is a Python object, so reading
it writes nothing: no reference count makes a process copy a page.
"""

import array
import binascii
import itertools
import os
import pickle
import sys

from . import _pickling
from ._brigade import Lease

WIDTH_MAX = 64  # of tuples, and of dicts with the same keys, that have a column for each element
_DEPTH_MAX = 64
_KEYS_SCANNED = 8  # a dict with more has an index
_WRITE_BYTES_MAX = 1 << 30
_JOINED_BYTES = 1 << 20  # of small arrays that are written at once
_SEED_MASK = 0xFFFFFFFF


def hash_of(key, seed):
    """A hash that is the same in each process, and for equal keys."""
    if isinstance(key, str):
        data = str.encode(key, "utf-8", "surrogatepass")
    elif isinstance(key, bytes):
        data = key
    elif isinstance(key, tuple):
        for one in key:
            seed = hash_of(one, seed)
        data = b"("
    else:
        data = b"" if key is None else hash(key).to_bytes(8, "little", signed=True)
    return binascii.crc32(data, seed)


# --- writing --------------------------------------------------------------------------------------


def _type_name(kind):
    """The name of a type, with its article."""
    name = kind.__qualname__ if kind.__module__ == "builtins" else \
        f"{kind.__module__}.{kind.__qualname__}"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


_INSTEAD = {"Parameter": "parameter.detach().cpu()", "PosixPath": "str(path)",
            "WindowsPath": "str(path)", "bytearray": "bytes(...)", "memoryview": "bytes(...)",
            "set": "a list", "frozenset": "a list", "range": "a list",
            "Image": "its encoded bytes, its path, or an array"}


def _refuse(name, what, instead=None):
    raise TypeError(f"{name} is {what}, but brigade.shared() takes only lists, tuples, dicts, "
                    "strings, bytes, numbers, None, NumPy arrays and CPU tensors"
                    + (f"; pass {instead}" if instead else ""))


class Writer:
    """Appends columns to a file. `columns` describes them; a column is named by its number."""

    def __init__(self, descriptor, at):
        self._descriptor, self.at, self._depth = descriptor, at, 0
        self.columns = []

    def put(self, data, alignment=8):
        """Writes data; returns its position (offset, bytes)."""
        view = memoryview(data).cast("B") if len(data) else memoryview(b"")
        begin = self.at = -(-self.at // alignment) * alignment
        while len(view):
            done = os.pwrite(self._descriptor, view[:_WRITE_BYTES_MAX], self.at)
            self.at += done
            view = view[done:]
        return begin, self.at - begin

    def _numbers(self, values):
        """Writes whole numbers, 0 or more."""
        made = array.array("Q", values)
        if not made or max(made) < 1 << 32:
            made = array.array("I", made)
        return *self.put(made), made.typecode

    def column(self, values, path):
        """`path(i)` names a value in messages."""
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise ValueError(f"{path(0)[:80]}... is nested more than {_DEPTH_MAX} levels deep, "
                             "or contains itself")
        kinds = {kind: _writer_of(kind) for kind in set(map(type, values))}
        for kind, write in kinds.items():
            if write is None:
                i = next(i for i, value in enumerate(values) if type(value) is kind)
                _refuse(path(i), _type_name(kind), _INSTEAD.get(kind.__name__))
        writers = set(kinds.values())
        made = self._union(values, kinds, path) if len(writers) > 1 else \
            writers.pop()(self, values, path) if writers else ("none",)
        self._depth -= 1
        self.columns.append(made)
        return len(self.columns) - 1

    def _union(self, values, kinds, path):
        order = list(dict.fromkeys(kinds.values()))
        tag_of = {kind: order.index(write) for kind, write in kinds.items()}
        tags = bytes([tag_of[type(value)] for value in values])
        parts, places = [[] for _ in order], [[] for _ in order]
        positions = array.array("Q")
        for i, (tag, value) in enumerate(zip(tags, values)):
            positions.append(len(parts[tag]))
            parts[tag].append(value)
            places[tag].append(i)
        children = [self.column(part, lambda i, place=place: path(place[i]))
                    for part, place in zip(parts, places)]
        return "union", self.put(tags), self._numbers(positions), children

    def _none(self, values, path):
        return ("none",)

    def _bools(self, values, path):
        return "numbers", (*self.put(bytes(values)), "?")

    def _ints(self, values, path):
        try:
            return "numbers", (*self.put(array.array("q", values)), "q")
        except OverflowError:
            return "integers", self._texts([value.to_bytes(value.bit_length() // 8 + 1, "little",
                                                           signed=True) for value in values])

    def _floats(self, values, path):
        return "numbers", (*self.put(array.array("d", values)), "d")

    def _complex(self, values, path):
        pairs = itertools.chain.from_iterable((value.real, value.imag) for value in values)
        return "complex", (*self.put(array.array("d", pairs)), "d")

    def _texts(self, values, joined=None):
        return self._ends(values), self.put(b"".join(values) if joined is None else joined, 1)

    def _bytes(self, values, path):
        return "bytes", self._texts(values)

    def _strings(self, values, path):
        joined = "".join(values)
        if joined.isascii():
            return "strings", self._texts(values, joined.encode())
        return "strings", self._texts([value.encode("utf-8", "surrogatepass") for value in values])

    def _ends(self, values):
        return self._numbers(itertools.accumulate(map(len, values), initial=0))

    def _inside(self, values, path, name):
        """The column of all elements. `name(k, i)`: name of element i of value k."""
        def path_of(i):
            for k, value in enumerate(values):
                if i < len(value):
                    return path(k) + name(k, i)
                i -= len(value)

        return self.column(list(itertools.chain.from_iterable(values)), path_of)

    def _flat(self, values, path):
        return self._ends(values), self._inside(values, path, lambda _, i: f"[{i}]")

    def _lists(self, values, path):
        return "lists", *self._flat(values, path)

    def _tuples(self, values, path):
        widths = set(map(len, values))
        if len(widths) > 1 or max(widths) > WIDTH_MAX:
            return "long tuples", *self._flat(values, path)
        return "tuples", [self.column([value[j] for value in values],
                                      lambda i, j=j: f"{path(i)}[{j}]")
                          for j in range(widths.pop())]

    def _dicts(self, values, path):
        keys = tuple(values[0])
        if len(keys) <= WIDTH_MAX and all(type(key) is str for key in keys) and \
                all(len(value) == len(keys) and tuple(value) == keys for value in values):
            return "rows", keys, [self.column([value[key] for value in values],
                                              lambda i, key=key: f"{path(i)}[{key!r}]")
                                  for key in keys]
        all_keys = list(itertools.chain.from_iterable(values))
        key_column = self._inside(values, path, lambda k, i: f": key {list(values[k])[i]!r}")
        column = self._inside([list(value.values()) for value in values], path,
                              lambda k, i: f"[{list(values[k])[i]!r}]")
        index = self._index(values, all_keys) if max(map(len, values)) > _KEYS_SCANNED else None
        return "dicts", self._ends(values), key_column, column, index

    def _index(self, values, keys):
        """Keys by their hash: where each bucket begins, and its keys' places."""
        mask = (1 << len(keys).bit_length()) - 1
        seeds = itertools.chain.from_iterable(
            itertools.repeat(i & _SEED_MASK, len(value)) for i, value in enumerate(values))
        hashes = map(hash_of, keys, seeds)
        if set(map(type, keys)) == {str}:  # the same, faster
            encoded = [key.encode("utf-8", "surrogatepass") for key in keys]
            hashes = map(binascii.crc32, encoded, seeds)
        buckets = [hashed & mask for hashed in hashes]
        counts = array.array("Q", bytes(8 * (mask + 2)))
        for bucket in buckets:
            counts[bucket + 1] += 1
        begins = array.array("Q", itertools.accumulate(counts))
        places = sorted(range(len(keys)), key=buckets.__getitem__)
        return mask, self._numbers(begins), self._numbers(places)

    def _arrays(self, values, path):
        import numpy
        scalar = isinstance(values[0], numpy.generic)
        about, data, dtypes = [], [], {}
        for i, value in enumerate(values):
            if value.dtype.hasobject:
                _refuse(path(i), f"an array of {value.dtype}", "a list")
            value = numpy.ascontiguousarray(value).reshape(value.shape)
            if value.dtype not in dtypes:
                dtypes[value.dtype] = pickle.dumps(value.dtype)
            about.append((dtypes[value.dtype], value.shape))
            data.append(value.reshape(-1).view(numpy.uint8).data)
        return "arrays", scalar, *self._contents(about, data, path)

    def _tensors(self, values, path):
        import torch
        about, data = [], []
        for i, value in enumerate(values):
            if value.layout is not torch.strided or value.is_quantized or value.is_nested:
                _refuse(path(i), "a tensor that is not dense", "tensor.to_dense()")
            if value.requires_grad or not value.is_cpu:
                what = "that requires a gradient" if value.requires_grad else f"on {value.device}"
                _refuse(path(i), f"a tensor {what}", "tensor.detach().cpu()")
            value = value.resolve_conj().resolve_neg().contiguous()
            about.append((str(value.dtype)[len("torch."):], tuple(value.shape)))
            data.append(memoryview(Lease(value, value.data_ptr(),
                                         value.numel() * value.element_size())))
        return "tensors", *self._contents(about, data, path)

    def _contents(self, about, data, path):
        """(dtype and shape of all, or a column of them; how many; where they begin)"""
        if any(one != about[0] for one in about):
            begins = [self.put(one, _pickling.ALIGNMENT)[0] for one in data]
            return self.column(about, path), len(data), self._numbers(begins)
        at_once = 1 + _JOINED_BYTES // max(1, len(data[0]))
        begins = [self.put(b"".join(data[i:i + at_once]), 1 if i else _pickling.ALIGNMENT)[0]
                  for i in range(0, len(data), at_once)]
        return about[0], len(data), begins[0]


_WRITERS = {type(None): Writer._none, bool: Writer._bools, int: Writer._ints,
            float: Writer._floats, complex: Writer._complex, str: Writer._strings,
            bytes: Writer._bytes, list: Writer._lists, tuple: Writer._tuples, dict: Writer._dicts}


def _writer_of(kind):
    """The writer of a type; None if the type is not supported."""
    if kind in _WRITERS:
        return _WRITERS[kind]
    for base in (list, dict):
        if issubclass(kind, base):
            return _WRITERS[base]
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and kind is numpy.ndarray:
        return Writer._arrays
    if numpy is not None and issubclass(kind, numpy.generic) and kind is not numpy.object_:
        return _scalars
    return Writer._tensors if torch is not None and kind is torch.Tensor else None


def _scalars(writer, values, path):
    """Writes NumPy's scalars to a separate column next to its arrays."""
    return writer._arrays(values, path)
