"""Datasets whose items wait for each other."""

import pathlib
import time

from brigade import get_worker_info

SECONDS = 100  # more than any loop waits


class Waiting:
    """Item 0 waits for `mark`, which item `marks` makes; item i is i."""

    def __init__(self, length, mark, marks=None, fails=()):
        self.length, self.mark, self.marks, self.fails = length, str(mark), marks, fails

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        if i == self.marks:
            pathlib.Path(self.mark).touch()
        until = time.monotonic() + SECONDS
        while i == 0 and not pathlib.Path(self.mark).exists() and time.monotonic() < until:
            time.sleep(0.001)
        if i in self.fails:
            raise ValueError(i)
        return i


class Stream:
    """Of each worker (worker, i) for i in order; the first worker waits before its first."""

    def __init__(self, mark, length=20):
        self.mark, self.length = str(mark), length

    def __iter__(self):
        worker = get_worker_info().id
        until = time.monotonic() + SECONDS
        while worker == 0 and not pathlib.Path(self.mark).exists() and time.monotonic() < until:
            time.sleep(0.001)
        return iter([(worker, i) for i in range(self.length)])
