"""Memory for the batches of workers: blocks of one unnamed memory file. A block belongs to a task
and then to the program, until the last tensor of its batch is gone there and in all children. If a
worker keeps a part of a batch, it gets a copy at the same addresses."""

import collections
import errno
import fcntl
import os
import struct

from . import _brigade
from ._log import logger

STRIDE = 1 << 34  # of blocks in the file, which is sparse: the most bytes of a batch, together with
_RESERVE = 1 << 20  # for the error of one that is larger
_BLOCKS_MAX = 1 << 27
_SIZE_LEAST = 1 << 20
_PAGES_KEPT = 1 << 20  # that a block may keep beyond what the last batch took
_WARM_BYTES = 16 << 20  # of blocks that nobody needs now, which keep their memory in any number
_MAPPINGS_MAX = 16384  # of a process, which may have 65,530; batches beyond them are copied
_HELD_MAX = min(1 << 30, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4)
_HELD_BATCHES_MAX = 16  # as large as the last one; more than a loop holds that keeps none
_INHERITED_AT_ONCE = 8  # blocks that are asked for anew with each task
CANCELLED = struct.Struct("q")  # the first word of a block: nobody waits for the batch
TASK_AT = 64  # where the task is written, in a block

_F_ADD_SEALS = getattr(fcntl, "F_ADD_SEALS", 1033)
_F_SEAL_SHRINK, _F_SEAL_GROW = 2, 4


def memory_file(name, size):
    """A descriptor of a memory file of fixed size."""
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, size)
    except OSError as error:
        os.close(descriptor)
        if error.errno != errno.EFBIG:
            raise
        raise OSError(errno.EFBIG, "the file size limit applies to shared memory; raise the "
                                   "limit with `ulimit -f unlimited`") from None
    fcntl.fcntl(descriptor, _F_ADD_SEALS, _F_SEAL_SHRINK | _F_SEAL_GROW)
    return descriptor


class MemoryFile:
    """An unnamed memory file of fixed size that processes map. It stays open while it is mapped,
    because children need it when they are forked; they map nothing of it themselves."""

    def __init__(self, name, size):
        self._descriptor = memory_file(name, size)
        self._process = os.getpid()

    @classmethod
    def of_another(cls, process, descriptor):
        """A file that another process has open."""
        self = cls.__new__(cls)
        self._descriptor = os.open(f"/proc/{process}/fd/{descriptor}", os.O_RDWR)
        self._process = os.getpid()
        return self

    def fileno(self):
        if os.getpid() != self._process:
            raise RuntimeError("this is a forked child; only its parent can use these batches")
        return self._descriptor

    def __del__(self):
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)


_said = set()  # once in a program


def _say_held(end):
    """Warns once if kept batches use much memory."""
    if _said:
        return
    held = _brigade.held()[1]
    if held > max(_HELD_MAX, _HELD_BATCHES_MAX * end):
        _said.add("held")
        logger.warning("batches kept by the program use %.1f GiB: a tensor or view keeps the "
                       "memory of its whole batch; copy what you need longer (tensor.clone(), "
                       "array.copy())", held / (1 << 30))


def is_much_less(size, before):
    """True if a batch of this size makes a block return memory."""
    return before > 2 * size + _PAGES_KEPT


class Arena:
    """The program's side. Only one thread calls take() and cancel(). Any thread may call the others
    and end leases; each changes only its own block and adds it to `_returned` in one step."""

    def __init__(self, warm):
        """`warm`: least number of unused blocks that keep their memory."""
        self._file = MemoryFile("brigade-batches", STRIDE * _BLOCKS_MAX)
        self._warm_max = warm
        self._maps = []  # by block
        self._end = []  # by block, how far it was written
        self._size = _SIZE_LEAST  # of mappings: enough for what there has been
        self._last = 0  # size of the last batch
        self._forks = []  # by block, how many there were when it was given to the program
        self._returned = []  # by those who held batches
        self._inherited = collections.deque()  # (block, forks up to its return): children read it
        self._warm, self._cold = [], []
        self._warm_bytes = 0

    @property
    def descriptor(self):
        return self._file.fileno()

    def take(self, message):
        """(block, offset in the file) for a task."""
        self._sort_out()
        block = self._warm.pop() if self._warm else self._cold.pop() if self._cold else None
        if block is not None:
            self._warm_bytes -= self._end[block]
        else:
            block = len(self._maps)
            self._maps.append(None)
            self._end.append(0)
            self._forks.append(0)
        view = memoryview(self._mapping(block, TASK_AT + len(message)))
        CANCELLED.pack_into(view, 0, 0)
        view[TASK_AT:TASK_AT + len(message)] = message
        return block, block * STRIDE

    def _mapping(self, block, size):
        found = self._maps[block]
        if found is None or found.size < size:
            while self._size < size:
                self._size *= 2
            found = self._maps[block] = _brigade.Mapping(self._file, block * STRIDE, self._size)
        return found

    def cancel(self, block):
        CANCELLED.pack_into(memoryview(self._maps[block]), 0, 1)

    def lease(self, block, end):
        """The first bytes of a block, as a buffer. The block is free again when the last view of it
        is gone and no child can read it. If the program keeps so many batches that it would run out
        of mappings, this is a copy."""
        mapping = self._mapping(block, end)
        self._end[block] = max(self._end[block], end)
        self._last = end
        self._forks[block] = _brigade.forks()
        if not (self._warm or self._cold or self._returned) and \
                _brigade.held()[0] > _MAPPINGS_MAX:
            copy = bytearray(memoryview(mapping)[:end])
            self._returned.append(block)
            return copy
        made = _brigade.Lease(mapping, mapping.address, end, self._returned, block)
        _say_held(end)
        return made

    def free(self, block, end):
        """Frees a block whose batch was never delivered."""
        self._end[block] = max(self._end[block], end)
        self._forks[block] = _brigade.forks()
        self._returned.append(block)

    def _sort_out(self):
        forks = _brigade.forks()
        waiting = [self._inherited.popleft()
                   for _ in range(min(len(self._inherited), _INHERITED_AT_ONCE))]
        waiting += [(self._returned.pop(), forks) for _ in range(len(self._returned))]
        for block, until in waiting:
            since = self._forks[block]
            if since < until and _brigade.has_children(since, until):
                self._inherited.append((block, until))
                continue
            if is_much_less(self._last, self._end[block]):
                self._trim(block, self._last)
            self._warm.append(block)
            self._warm_bytes += self._end[block]
        while len(self._warm) > self._warm_max and self._warm_bytes > _WARM_BYTES:
            block = self._warm.pop(0)
            self._warm_bytes -= self._end[block]
            self._trim(block, 0)
            self._cold.append(block)

    def _trim(self, block, size):
        self._maps[block].trim(size, STRIDE)
        self._end[block] = size


class Room:
    """A block in the worker that processes its task."""

    def __init__(self, blocks, offset, begin):
        self._blocks, self._offset = blocks, offset
        self.at = begin
        self._mappings = [blocks.mapping(offset, begin)]
        self._has_lent = False
        self._reserve = _RESERVE

    def take(self, size, alignment=64):
        """Reserves bytes: (mapping, position in the block). After a MemoryError nothing is
        reserved."""
        position = -(-self.at // alignment) * alignment
        end = position + size
        if end > STRIDE - self._reserve:
            raise MemoryError(f"the batch has at least {end} bytes, more than the limit of "
                              f"{STRIDE - self._reserve}; use a smaller batch_size, or smaller "
                              "dtypes (float16, uint8) and convert them in the loop")
        if end > self._mappings[-1].size:
            self._mappings.append(self._blocks.mapping(self._offset, end))
        self.at = end
        return self._mappings[-1], position

    def open_reserve(self):
        """Opens the reserve for an error, which is written after the batch: its memory may be
        lent."""
        self._reserve = 0

    def lend(self, size):
        """Memory for a tensor that is created in place, as a buffer."""
        mapping, position = self.take(size)
        self._has_lent = True
        return _brigade.Lease(mapping, mapping.address + position, size)

    def position_of(self, address, size):
        """Position of an address in the block; None for other memory."""
        for mapping in self._mappings:
            if address is not None and mapping.address <= address and \
                    address + size <= mapping.address + mapping.size:
                return address - mapping.address
        return None

    def place(self, owner, address, size):
        """The position of memory kept by `owner`: where it was lent, or where it is copied to."""
        there = self.position_of(address, size) if self._has_lent else None
        return self.write(_brigade.Lease(owner, address, size)) if there is None else there

    def write(self, *parts):
        """Copies parts one after another; returns the position of the first."""
        parts = [memoryview(part) for part in parts]
        mapping, position = self.take(sum(map(len, parts)))
        view, at = memoryview(mapping), position
        for part in parts:
            view[at:at + len(part)] = part
            at += len(part)
        return position

    def close(self):
        """Hands the block to the program. Parts that are still lent become private copies at the
        same addresses. (Its children keep their view from the fork.)"""
        for mapping in self._mappings:
            if mapping.leases:
                mapping.detach()


class Blocks:
    """A worker's mappings of its most recently used blocks."""

    MAX = 128

    def __init__(self, file):
        self._file = file
        self._maps = {}
        self._size = _SIZE_LEAST

    def mapping(self, offset, size):
        found = self._maps.pop(offset, None)
        if found is None or found.size < size or found.private:
            while self._size < size:
                self._size *= 2
            found = _brigade.Mapping(self._file, offset, self._size, snapshot=True)
        self._maps[offset] = found  # the last one now
        while len(self._maps) > self.MAX:
            del self._maps[next(iter(self._maps))]
        return found
