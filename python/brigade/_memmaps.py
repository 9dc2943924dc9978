"""Arrays that map a file (numpy.memmap, its slices, views and tensors of them), on their way to
workers: the file is sent instead of the bytes. /proc/self/maps tells the file and the position of
an array in it, because a slice has the `offset` of its parent, and another file may have the name
by now."""

import bisect
import os
import re
import stat
import sys
import warnings

_LINE = re.compile(rb"([0-9a-f]+)-([0-9a-f]+) r(.).s ([0-9a-f]+) \S+ ([1-9]\d*) +(/.*)")
_TENSOR_LEAST = 1 << 20  # bytes; smaller ones are copied
_DESCRIPTORS_MAX = 256  # of files, which a payload keeps open; others are opened by their names


class Files:
    """The files of one payload. `descriptors`: a list for descriptors that stay open until workers
    have theirs."""

    def __init__(self, descriptors):
        self._descriptors = descriptors
        self._opened = {}  # (descriptor or None, path, whether it may be written, its identity)
        self._maps = None

    def reduce(self, array):
        """The reduction for a pickler; None for an array that must be copied, because it is in
        other memory or in a file that workers cannot open."""
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
        return _array_of, (os.getpid(), *found, address - begin, array.dtype, array.shape,
                           array.strides, array.flags.writeable, type(array) is numpy.memmap)

    def reduce_tensor(self, tensor):
        """The same for a plain tensor, which does not tell the owner of its memory."""
        strides = tensor.stride()
        size = sum((count - 1) * stride for count, stride in zip(tensor.shape, strides)) + 1
        begin, size = tensor.data_ptr(), size * tensor.element_size()
        found = self._place(begin, begin + size) if size >= _TENSOR_LEAST else None
        return found and (_tensor_of, (os.getpid(), *found, str(tensor.dtype)[len("torch."):],
                                       tuple(tensor.shape), strides))

    def _place(self, begin, end):
        """(file, offset in it, bytes) of memory in shared mappings of one file without a gap."""
        if self._maps is None:
            with open("/proc/self/maps", "rb") as file:
                lines = map(_LINE.fullmatch, file.read().split(b"\n"))
            self._maps = [_parsed(line) for line in lines if line]
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
        return file and (file, offset, end - begin)

    def _open(self, writes, inode, path, size):
        """Opens the file; None if no file of this size has the name, or it is another one."""
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
        same = found.st_ino == inode and stat.S_ISREG(found.st_mode)
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


def _mapped(process, file, offset, size):
    """Maps the same bytes of the same file in a worker."""
    import numpy
    descriptor, path, writes, identity = file
    place = path if descriptor is None else f"/proc/{process}/fd/{descriptor}"
    with open(place, "r+b" if writes else "rb") as file:
        found = os.fstat(file.fileno())
        if (found.st_dev, found.st_ino) != identity or found.st_size < offset + size:
            raise RuntimeError(f"{path} was replaced or truncated after the dataset mapped it; "
                               "replace files only between epochs")
        return numpy.memmap(file, "u1", "r+" if writes else "r", offset, (size,))


def _array_of(process, file, offset, size, first, dtype, shape, strides, writeable, is_memmap):
    import numpy
    whole = _mapped(process, file, offset, size)
    made = numpy.ndarray(shape, dtype, whole, first, strides)
    if is_memmap:
        made = made.view(numpy.memmap)
        made._mmap, made.filename, made.offset, made.mode = whole._mmap, file[1], offset, whole.mode
    made.flags.writeable = writeable
    return made


def _tensor_of(process, file, offset, size, dtype, shape, strides):
    import torch
    whole = _mapped(process, file, offset, size)
    with warnings.catch_warnings():  # of memory that may not be written, as the program has it
        warnings.simplefilter("ignore")
        made = torch.frombuffer(whole, dtype=getattr(torch, dtype))
    return made.as_strided(shape, strides)
