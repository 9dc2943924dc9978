"""Datasets that tests of the DataLoader read; in a module, so that workers find them."""

import os
import random
import sys
import time

from brigade import get_worker_info
from processes import memory_of

SETTING = "not set"  # by a program

class Numbers:
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return {"i": i, "square": i * i, "bytes": bytes(i)}


class Threes(Numbers):
    def __init__(self):
        super().__init__(7)

    def __getitems__(self, indices):
        return [10 * i for i in indices]


class Array(Numbers):
    """Arrays that are not contiguous."""

    def __getitem__(self, i):
        import numpy
        return numpy.full((64, 64), i, numpy.float32)[:, ::2]


class Sizes(Numbers):
    def __getitem__(self, i):
        return bytearray(1 << (i % 20))


class Random(Numbers):
    """What random augmentation does; who did it stands beside."""

    def __init__(self, count, ms=0):
        super().__init__(count)
        self.ms = ms

    def __getitem__(self, i):
        time.sleep(self.ms / 1000)
        value = [i, random.random()]
        if "numpy" in sys.modules:
            value.append(float(sys.modules["numpy"].random.rand()))
        if "torch" in sys.modules:
            value.append(sys.modules["torch"].rand(2).tolist())
        return {"pid": os.getpid(), "value": value}


class RankVariables(Numbers):
    def __getitem__(self, i):
        return os.environ.get("RANK"), os.environ.get("WORLD_SIZE")


class Odd(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


class Panic(BaseException):
    """As libraries written in Rust raise."""


class Failing(Numbers):
    def __init__(self, count, at, how="error"):
        super().__init__(count)
        self.at, self.how = at, how

    def __getitem__(self, i):
        if i != self.at:
            return i
        if self.how == "exit":
            os._exit(3)
        if self.how == "odd":
            raise Odd("Odd", 2)
        if self.how == "leave":
            sys.exit("I give up")
        if self.how == "panic":
            raise Panic("no more")
        if self.how == "interrupt":
            raise KeyboardInterrupt
        if self.how == "stop":
            raise StopIteration
        if self.how == "sleep":
            time.sleep(3600)
        raise KeyError("no five")


def generator(samples):
    """A batch that nobody can pickle."""
    return (one for one in samples)


class Loud(Numbers):
    """Prints a line in each way that there is."""

    long = 4000

    def __getitem__(self, i):
        print("größe", i)
        print("x" * self.long if i == 0 else "x")
        print("warning", i, file=sys.stderr)
        os.write(1, b"no line of Python's\n")
        return i


class SizesOf(Numbers):
    """Bytes: of the i-th sample so many."""

    def __init__(self, sizes):
        super().__init__(len(sizes))
        self.sizes = sizes

    def __getitem__(self, i):
        return bytearray(self.sizes[i])


class Large(Numbers):
    """Samples of a size that fits, but for one of them."""

    def __getitem__(self, i):
        return bytearray(100000 << (7 if i == 2 else 0))


def at_most_4_mib(worker):
    """A batch, instead of 16 GiB."""
    from brigade import _arena
    _arena.STRIDE = 4 << 20


class Counted(Numbers):
    calls, told = 0, None

    def __getitem__(self, i):
        info = get_worker_info()
        self.calls += 1
        return {"id": info and info.id, "workers": info and info.num_workers, "told": self.told,
                "calls": self.calls, "pid": os.getpid()}


def told(worker):
    get_worker_info().dataset.told = 100 + worker


class Hungry:
    """How much memory a worker has for itself, with an array of so many bytes."""

    def __init__(self, size):
        import numpy
        self.array = numpy.ones(size, numpy.uint8)

    def __len__(self):
        return 4

    def __getitem__(self, i):
        before = _private()
        total = int(self.array.sum())
        assert total == len(self.array)
        return _private() - before


def _private():
    with open("/proc/self/smaps_rollup") as file:
        return sum(1024 * int(line.split()[1]) for line in file if line.startswith("Anonymous"))


class Parts:
    """Each worker gives its part; one worker may die, once."""

    once = None

    def __init__(self, count, length=None, dies_at=None):
        self.count, self.length, self.dies_at = count, length, dies_at

    def __len__(self):
        if self.length is None:
            raise TypeError("nobody knows")
        return self.length

    def __iter__(self):
        return self.values(0)

    def values(self, skip):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        for value in list(range(first, self.count, step))[skip:]:
            if value == self.dies_at and not os.path.exists(self.once):
                open(self.once, "w").close()
                os._exit(1)
            yield value


class Who:
    def __iter__(self):
        yield {"id": get_worker_info().id}


class Resumable(Parts):
    """Says where it is."""

    given = skip = 0

    def __iter__(self):
        self.given = self.skip
        for value in self.values(self.skip):
            self.given += 1
            yield value
        self.skip = 0

    def state_dict(self):
        return {"given": self.given}

    def load_state_dict(self, state):
        self.skip = state["given"]


class OwnIterator:
    """Is its own iterator, which iter() sets back."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        self.given = 0
        return self

    def __next__(self):
        if self.given == self.count:
            raise StopIteration
        self.given += 1
        return self.given - 1

    def state_dict(self):
        return {"given": self.given}

    def load_state_dict(self, state):
        assert self.given == 0, "iter() comes first"
        self.given = state["given"]


class CountsEpochs(Resumable):
    """What it gives depends on how often it has been read."""

    epoch = 0

    def __iter__(self):
        for value in super().__iter__():
            yield [self.epoch, value]
        self.epoch += 1
        self.given = 0

    def state_dict(self):
        return {**super().state_dict(), "epoch": self.epoch}

    def load_state_dict(self, state):
        super().load_state_dict(state)
        self.epoch = state["epoch"]


def same(batch):
    return batch


class Listed(Numbers):
    """The first of many values, and which shared memory this process has mapped."""

    def __init__(self, values, count):
        super().__init__(count)
        self.values = values

    def __getitem__(self, i):
        return {"path": self.values[i],
                "inodes": [one["inode"] for one in memory_of(os.getpid())]}


def read_in_child(value, pipe):
    """Reads all of a shared value, writes where that can be, and says what that did to memory."""
    for one in value:
        if hasattr(one, "add_"):
            one.add_(1)
    memory = memory_of(os.getpid())
    pipe.send({"first": str(value[0]), "size": len(value),
               "inodes": [one["inode"] for one in memory],
               "copied": sum(one["Anonymous"] for one in memory)})
