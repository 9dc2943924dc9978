"""Reads what _shared_columns.py has written: each `get(i)` makes the Python object of a value.

A reader refers to the readers of the columns inside it and to the store. The store refers to no
reader, so that no cycle of references keeps the memory.
"""

import pickle

from ._shared_columns import hash_of


def _span(memory, span):
    offset, size, *code = span
    view = memory[offset:offset + size]
    return view.cast(*code) if code else view


class _Texts:
    def __init__(self, memory, texts):
        self._offsets, self._text = (_span(memory, span) for span in texts)

    def get(self, i):
        return bytes(self._text[self._offsets[i]:self._offsets[i + 1]])


class _Strings(_Texts):
    def get(self, i):
        offsets = self._offsets
        return str(self._text[offsets[i]:offsets[i + 1]], "utf-8", "surrogatepass")


class _Integers(_Texts):
    def get(self, i):
        return int.from_bytes(super().get(i), "little", signed=True)


class _Bytes(_Texts):
    pass


class _Nones:
    def get(self, i):
        return None


class _Numbers:
    def __init__(self, memory, span):
        self.get = _span(memory, span).__getitem__


class _Complex:
    def __init__(self, memory, span):
        self._parts = _span(memory, span)

    def get(self, i):
        return complex(self._parts[2 * i], self._parts[2 * i + 1])


class _Union:
    def __init__(self, store, tags, positions, children):
        self._tags, self._positions = _span(store.memory, tags), _span(store.memory, positions)
        self._gets = [store.column(child).get for child in children]

    def get(self, i):
        return self._gets[self._tags[i]](self._positions[i])


class _Lists:
    """Lists. `made` creates one from a range of the column of all values."""

    def __init__(self, store, offsets, child, made):
        self._store, self._offsets, self._child = store, _span(store.memory, offsets), child
        self._column, self._made = store.column(child), made

    def get(self, i):
        at = range(self._offsets[i], self._offsets[i + 1])
        return self._made(self._store, self._child, self._column, at)


class _Tuples:
    def __init__(self, store, children):
        self._gets = [store.column(child).get for child in children]

    def get(self, i):
        return tuple([get(i) for get in self._gets])


class _Rows:
    """Dicts with the same keys."""

    def __init__(self, store, keys, children, number):
        self._store, self._number, self._keys = store, number, keys
        self._get_of = {key: store.column(child).get for key, child in zip(keys, children)}

    def get(self, i):
        return self._store.mapping(self._store, self._number, self, i)

    def size(self, i):
        return len(self._keys)

    def find(self, i, key):
        return self._get_of[key](i)

    def keys(self, i):
        return iter(self._keys)

    def values(self, i):
        return (get(i) for get in self._get_of.values())


class _Dicts:
    def __init__(self, store, offsets, keys, values, index, number):
        self._store, self._number = store, number
        self._offsets = _span(store.memory, offsets)
        self._key, self._value = store.column(keys).get, store.column(values).get
        self._index = index and (index[0], *(_span(store.memory, span) for span in index[1:]))

    def get(self, i):
        return self._store.mapping(self._store, self._number, self, i)

    def _range(self, i):
        return range(self._offsets[i], self._offsets[i + 1])

    def size(self, i):
        return len(self._range(i))

    def find(self, i, key):
        hashed = hash_of(key, i & 0xFFFFFFFF)  # a TypeError, where it has none
        places = all_places = self._range(i)
        if self._index is not None:
            mask, begins, order = self._index
            bucket = hashed & mask
            places = order[begins[bucket]:begins[bucket + 1]]
        for place in places:
            if place in all_places and self._key(place) == key:
                return self._value(place)
        raise KeyError(key)

    def keys(self, i):
        return map(self._key, self._range(i))

    def values(self, i):
        return map(self._value, self._range(i))


class _Contents:
    """Arrays or tensors; arrays of one dtype and shape are stored as one."""

    def __init__(self, store, about, count, begins):
        self._memory = store.memory
        if isinstance(about, int):
            self._about, self._begins = store.column(about).get, _span(store.memory, begins)
        else:
            self._all = self._made(about[0], (count, *about[1]), begins)
            self.get = self._of_all

    def get(self, i):
        dtype, shape = self._about(i)
        return self._made(dtype, shape, self._begins[i])


class _Arrays(_Contents):
    def __init__(self, store, scalar, *contents):
        self._scalar = scalar
        super().__init__(store, *contents)

    def _made(self, dtype, shape, begin):
        import numpy
        made = numpy.ndarray(shape, pickle.loads(dtype), self._memory, begin)
        made.flags.writeable = False
        return made

    def _of_all(self, i):
        return self._all[i] if self._scalar else self._all[i, ...]

    def get(self, i):
        made = super().get(i)
        return made[()] if self._scalar else made


class _Tensors(_Contents):
    def _made(self, dtype, shape, begin):
        import torch
        dtype = getattr(torch, dtype)
        count = 1
        for size in shape:
            count *= size
        if not count:
            return torch.empty(shape, dtype=dtype)
        return torch.frombuffer(self._memory, dtype=dtype, count=count, offset=begin).view(shape)

    def _of_all(self, i):
        return self._all[i]


def reader(store, number, kind, *fields):
    """The reader of a column of a store, as the Writer has described it."""
    memory = store.memory
    if kind == "none":
        return _Nones()
    if kind in _PLAIN:
        return _PLAIN[kind](memory, *fields)
    if kind == "same":
        return store.column(*fields)
    if kind == "lists":
        return _Lists(store, *fields, store.sequence)
    if kind == "long tuples":
        return _Lists(store, *fields, store.tuple)
    if kind in ("rows", "dicts"):
        return (_Rows if kind == "rows" else _Dicts)(store, *fields, number)
    return _NESTED[kind](store, *fields)


_PLAIN = {"strings": _Strings, "bytes": _Bytes, "integers": _Integers, "numbers": _Numbers,
          "complex": _Complex}
_NESTED = {"union": _Union, "tuples": _Tuples, "arrays": _Arrays, "tensors": _Tensors}
