"""Arrays of NumPy that map a file (numpy.memmap, its slices, views of them), on their way to
workers: the file travels in place of the bytes. /proc/self/maps says which file it is, and where in
it an array lies: a slice has the `offset` of its parent, and another file may have the name by now.
"""

import bisect
import os
import re
import sys

_LINE = re.compile(rb"([0-9a-f]+)-([0-9a-f]+) r(.).s ([0-9a-f]+) \S+ ([1-9]\d*) +(/.*)")
_DESCRIPTORS_MAX = 256  # of files, which a payload keeps open; others are opened by their names


class Files:
    """Those of one payload. `descriptors`: gets those that stay open until workers have theirs."""

    def __init__(self, descriptors):
        self._descriptors = descriptors
        self._opened = {}  # (descriptor or None, path, whether it may be written, its identity)
        self._maps = None

    def reduce(self, array):
        """As a pickler asks for it; None of an array that has to be copied: of other memory, or of
        a file that workers cannot open."""
        numpy = sys.modules["numpy"]
        if array.dtype.hasobject or not array.nbytes or not _is_of_mmap(array, numpy):
            return None
        address = array.__array_interface__["data"][0]
        reach = [(count - 1) * stride for count, stride in zip(array.shape, array.strides)]
        begin = address + sum(one for one in reach if one < 0)
        end = address + sum(one for one in reach if one > 0) + array.itemsize
        found = self._place(begin, end)
        if found is None:
            return None
        file, offset = found
        return _array_of, (os.getpid(), *file, offset, end - begin, address - begin, array.dtype,
                           array.shape, array.strides, array.flags.writeable,
                           type(array) is numpy.memmap)

    def _place(self, begin, end):
        """(file, offset in it) of memory that shared mappings of one file hold without a gap."""
        if self._maps is None:
            with open("/proc/self/maps", "rb") as lines:
                self._maps = [_parsed(line) for line in map(_LINE.fullmatch, lines.read()
                                                            .split(b"\n")) if line]
        i = bisect.bisect_right(self._maps, (begin, 1 << 64)) - 1
        if i < 0 or self._maps[i][1] <= begin:
            return None
        first = self._maps[i]
        reached = first[1]
        while reached < end:  # a mapping that madvise() has divided
            i += 1
            if i == len(self._maps):
                return None
            start, stop, offset, *file = self._maps[i]
            if start != reached or file != [*first[3:]] or offset != first[2] + start - first[0]:
                return None
            reached = stop
        offset = first[2] + begin - first[0]
        file = self._open(*first[3:], offset + end - begin)
        return file and (file, offset)

    def _open(self, writes, inode, path, size):
        """None: no file of that size has the name, or it is another one."""
        key = writes, inode, path
        if key not in self._opened:
            self._opened[key] = self._identified(*key)
        file, length = self._opened[key]
        return file if length >= size else None

    def _identified(self, writes, inode, path):
        try:
            descriptor = os.open(path, (os.O_RDWR if writes else os.O_RDONLY) | os.O_CLOEXEC)
        except OSError:
            return None, -1
        found = os.fstat(descriptor)
        same = found.st_ino == inode
        file = descriptor, os.fsdecode(path), writes, (found.st_dev, found.st_ino)
        if same and len(self._opened) < _DESCRIPTORS_MAX:
            self._descriptors.append(descriptor)
        else:
            os.close(descriptor)
            file = None, *file[1:]
        return (file, found.st_size) if same else (None, -1)


def _parsed(line):
    start, stop, writes, offset, inode, path = line.groups()
    return int(start, 16), int(stop, 16), int(offset, 16), writes == b"w", int(inode), path


def _is_of_mmap(array, numpy):
    base = array.base
    while isinstance(base, numpy.ndarray):
        base = base.base
    return isinstance(base, sys.modules["mmap"].mmap) if "mmap" in sys.modules else False


def _array_of(process, descriptor, path, writes, identity, offset, size, first, dtype, shape,
              strides, writeable, is_memmap):
    """In a worker: of the same file."""
    import numpy
    place = path if descriptor is None else f"/proc/{process}/fd/{descriptor}"
    with open(place, "r+b" if writes else "rb") as file:
        found = os.fstat(file.fileno())
        if (found.st_dev, found.st_ino) != identity or found.st_size < offset + size:
            raise RuntimeError(f"{path} is not the file that the dataset of the program maps: it "
                               "was replaced or cut; replace files between epochs")
        whole = numpy.memmap(file, "u1", "r+" if writes else "r", offset, (size,))
    made = numpy.ndarray(shape, dtype, whole, first, strides)
    if is_memmap:
        made = made.view(numpy.memmap)
        made._mmap, made.filename, made.offset, made.mode = whole._mmap, path, offset, whole.mode
    made.flags.writeable = writeable
    return made
