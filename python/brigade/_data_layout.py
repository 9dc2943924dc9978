"""Layouts of common batches: plain torch tensors, alone or in a list, tuple or dict. They need no
pickle, which would dominate the cost on both sides. The layout is usually the same as for the
previous batch, and then it is neither created nor read again."""

import pickle
import struct
import sys

from ._arena import is_much_less
from ._log import logger

_SMALL_MAX = 64 << 10  # bytes of a tensor, and of all in a batch that is not large
_SMALL_PART = 16  # of a batch, as a divisor


def _apart(places, sizes):
    """The tensors that share no memory with another one."""
    found, reached, last = [], 0, None
    for i in sorted(range(len(sizes)), key=places.__getitem__):
        if places[i] >= reached:
            found.append(i)
        elif found and found[-1] == last:
            found.pop()
        if places[i] + sizes[i] > reached:
            reached, last = places[i] + sizes[i], i
    return found


def small(places, sizes):
    """The parts of a batch that get separate memory in the program, so that a label that is kept
    does not keep the images. Copying them costs little compared to the batch."""
    whole = sum(sizes)
    each, left = min(_SMALL_MAX, whole // _SMALL_PART), max(_SMALL_MAX, whole // _SMALL_PART)
    found = set()
    for i in sorted(_apart(places, sizes), key=sizes.__getitem__):
        left -= sizes[i]
        if sizes[i] > each or left < 0:
            break
        found.add(i)
    return found


def parts(buffer, table, entries):
    """The buffers of a pickled batch."""
    view = memoryview(buffer)
    places = struct.unpack_from(f"{2 * entries}q", view, table)
    own = small(places[::2], places[1::2])
    return [bytearray(view[at:at + size]) if i in own else view[at:at + size]
            for i, (at, size) in enumerate(zip(places[::2], places[1::2]))]


class Changes:
    """Tracks the shapes and sizes of batches in an epoch: the program warns once that changes cost
    time. A last batch may be short, one per worker."""

    SHAPES_MAX = 1  # from one batch to the next, in an epoch, without a word

    def __init__(self):
        self._said = False
        self.begin(1)

    def begin(self, workers):
        """Starts an epoch."""
        self._shapes, self._sizes, self._sizes_max = 0, 0, workers
        self._batches, self._last = 0, 0

    def shape(self):
        """Notes that a tensor changed in a dimension other than the first since the previous
        batch."""
        self._shapes += self._batches > 1
        self._say()

    def size(self, size):
        """Notes the bytes of each batch before it is read."""
        self._batches += 1
        self._sizes += is_much_less(size, self._last)
        self._last = size
        self._say()

    def _say(self):
        if self._said or (self._shapes <= self.SHAPES_MAX and self._sizes <= self._sizes_max):
            return
        self._said = True
        logger.warning("batches of the DataLoader change their shapes, which costs time: each "
                       "new layout is sent again, and a larger batch needs new memory; pad "
                       "batches to one size or similar sizes")


def _is_plain(tensor, torch):
    """True for a contiguous tensor of numbers in CPU memory."""
    return (type(tensor) is torch.Tensor and tensor.is_cpu and tensor.layout is torch.strided
            and not tensor.is_nested and tensor.is_contiguous()
            and not (tensor.requires_grad or tensor.is_conj() or tensor.is_neg()
                     or tensor.is_quantized))


class Writer:
    """Writes layouts in a worker."""

    def __init__(self):
        self._known, self._head, self._places = None, b"", struct.Struct("")

    def write(self, room, batch):
        """Position of the batch for the answer; None if it must be pickled."""
        torch, kind = sys.modules.get("torch"), type(batch)
        tensors = batch if kind in (list, tuple) else batch.values() if kind is dict else (batch,)
        if torch is None or not all(_is_plain(one, torch) for one in tensors) or \
                len(set(map(id, tensors))) < len(tensors):
            return None
        types = [(one.dtype, one.shape) for one in tensors]
        sizes = [one.numel() * one.element_size() for one in tensors]
        addresses = [one.data_ptr() for one in tensors]  # 0 of zeros that torch does not store
        if not all(sizes) or not all(addresses) or not self._learn(kind, batch, types):
            return None
        places = [room.place(*one) for one in zip(tensors, addresses, sizes)]
        table = room.write(self._places.pack(*places), self._head)
        return table, len(places), len(self._head), room.at

    def _learn(self, kind, batch, types):
        """False if its keys cannot be sent as they are."""
        names = list(batch) if kind is dict else None
        if names and not all(type(name) in (str, int) for name in names):
            return False  # True, say, which equals the 1 of the batch before
        if self._known == (kind, names, types):
            return True
        self._known = kind, names, types
        self._places = struct.Struct(f"{len(types)}q")
        self._head = pickle.dumps((kind if kind in (list, tuple, dict) else None, names, [
            (str(dtype)[len("torch."):], tuple(shape)) for dtype, shape in types]), protocol=5)
        return True


class Reader:
    """Reads layouts in the program."""

    def __init__(self, changes):
        self._changes = changes
        self._head = self._kind = self._names = None
        self._types, self._sizes, self._places, self._small = [], [], None, set()

    def read(self, buffer, table, entries, head, end):
        """The batch; its tensors use the buffer, except small ones."""
        import torch
        view = memoryview(buffer)
        if self._head != view[end - head:end]:
            self._learn(torch, bytes(view[end - head:end]))
        places = struct.unpack_from(f"{entries}q", view, table)
        if places != self._places:
            self._places, self._small = places, small(places, self._sizes)
        tensors = [torch.frombuffer(buffer, dtype=dtype, count=count, offset=at).view(shape)
                   for (dtype, count, shape), at in zip(self._types, places)]
        for i in self._small:
            tensors[i] = tensors[i].clone()
        if self._kind is None:
            return tensors[0]
        if self._kind is dict:
            return dict(zip(self._names, tensors))
        return self._kind(tensors)

    def _learn(self, torch, head):
        before = self._kind, self._names, [dtype for dtype, _, _ in self._types]
        shapes = [shape[1:] for _, _, shape in self._types]
        self._kind, self._names, types = pickle.loads(head)
        self._types, self._sizes, self._places = [], [], None
        for dtype, shape in types:
            count = 1
            for size in shape:
                count *= size
            self._types.append((getattr(torch, dtype), count, shape))
            self._sizes.append(count * torch.empty(0, dtype=self._types[-1][0]).element_size())
        self._head = head
        if before == (self._kind, self._names, [dtype for dtype, _, _ in self._types]) and \
                shapes != [shape[1:] for _, _, shape in self._types]:
            self._changes.shape()
