"""What workers draw whose random numbers a worker_init_fn seeds."""

import os
import pathlib
import random
import signal
import time

import numpy
import torch

from data_sets import Numbers

SECONDS = 30  # more than any loop waits


def seed_worker(worker):
    """The recipe of torch's documentation."""
    seed = torch.initial_seed() % 2**32
    numpy.random.seed(seed)
    random.seed(seed)


def only_draws(worker):
    random.random()


def does_nothing(worker):
    pass


def draws():
    return [numpy.random.randint(10**6), random.randint(0, 10**6), int(torch.randint(10**6, ()))]


class Noise(Numbers):
    """Item i: i, its worker, a number of the dataset's own generator, and what is drawn. With
    `mark`, item 0 waits for that file, which item `marks` makes, and item `kills` ends its worker
    if the file is not there."""

    own = None

    def __init__(self, count, mark=None, marks=None, kills=None):
        super().__init__(count)
        self.mark, self.marks, self.kills = mark and pathlib.Path(mark), marks, kills

    def __getitem__(self, i):
        info = torch.utils.data.get_worker_info()
        if self.own is None:
            self.own = numpy.random.default_rng(info.seed)
        if i == self.kills and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if i == self.marks:
            self.mark.touch()
        until = time.monotonic() + SECONDS
        while i == 0 and self.mark and self.kills is None and not self.mark.exists() and \
                time.monotonic() < until:
            time.sleep(0.001)
        return [i, info.id, int(self.own.integers(10**6)), *draws()]


class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        for i in range(12):
            yield [i, *draws()]
