"""What most batches are, plain tensors of torch, alone or in a list, tuple or dict: on their way
they need no pickle, which takes both sides longer than all else that is theirs. Their layout is
that of the batch before, mostly, and then it is neither made nor read again."""

import pickle
import struct
import sys

from ._arena import is_much_less
from ._log import logger


class Changes:
    """Of batches' shapes and sizes in an epoch, in the program: a DataLoader says once that they
    cost something. A last batch may be short, with several workers one of each."""

    SHAPES_MAX = 1  # from one batch to the next, in an epoch, without a word

    def __init__(self):
        self._said = False
        self.begin(1)

    def begin(self, workers):
        """An epoch."""
        self._shapes, self._sizes, self._sizes_max = 0, 0, workers
        self._batches, self._last = 0, 0

    def shape(self):
        """Of a tensor, in a dimension other than the first, since the batch before."""
        self._shapes += self._batches > 1
        self._say()

    def size(self, size):
        """Bytes of a batch: of each one, before it is read."""
        self._batches += 1
        self._sizes += is_much_less(size, self._last)
        self._last = size
        self._say()

    def _say(self):
        if self._said or (self._shapes <= self.SHAPES_MAX and self._sizes <= self._sizes_max):
            return
        self._said = True
        logger.warning("batches of the DataLoader change their shapes: the layout of such a batch "
                       "is sent anew, and one that is larger than those before takes new memory; "
                       "batches that are padded to one size, or to like sizes, avoid that")


def _is_plain(tensor, torch):
    """Of numbers that lie in the memory of the CPU, one behind the other."""
    return (type(tensor) is torch.Tensor and tensor.is_cpu and tensor.layout is torch.strided
            and not tensor.is_nested and tensor.is_contiguous()
            and not (tensor.requires_grad or tensor.is_conj() or tensor.is_neg()
                     or tensor.is_quantized))


class Writer:
    """In a worker."""

    def __init__(self):
        self._known, self._head, self._places = None, b"", struct.Struct("")

    def write(self, room, batch):
        """Where it was written, as an answer has it; None of a batch that has to be pickled."""
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
        """False: its keys are not for everybody."""
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
    """In the program."""

    def __init__(self, changes):
        self._changes = changes
        self._head = self._kind = self._names = None
        self._types = []

    def read(self, buffer, table, entries, head, end):
        """The batch, whose tensors are the buffer."""
        import torch
        view = memoryview(buffer)
        if self._head != view[end - head:end]:
            self._learn(torch, bytes(view[end - head:end]))
        tensors = [torch.frombuffer(buffer, dtype=dtype, count=count, offset=at).view(shape)
                   for (dtype, count, shape), at in
                   zip(self._types, struct.unpack_from(f"{entries}q", view, table))]
        if self._kind is None:
            return tensors[0]
        if self._kind is dict:
            return dict(zip(self._names, tensors))
        return self._kind(tensors)

    def _learn(self, torch, head):
        before = self._kind, self._names, [dtype for dtype, _, _ in self._types]
        shapes = [shape[1:] for _, _, shape in self._types]
        self._kind, self._names, types = pickle.loads(head)
        self._types = []
        for dtype, shape in types:
            count = 1
            for size in shape:
                count *= size
            self._types.append((getattr(torch, dtype), count, shape))
        self._head = head
        if before == (self._kind, self._names, [dtype for dtype, _, _ in self._types]) and \
                shapes != [shape[1:] for _, _, shape in self._types]:
            self._changes.shape()
