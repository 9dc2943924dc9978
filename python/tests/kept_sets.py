"""Datasets and functions of workers that keep what they have made, or fork."""

import multiprocessing
import os
import signal

import torch
from torch.utils.data import default_collate

from data_sets import Numbers


class Rows(Numbers):
    """Row i is full of i, in more than a page."""

    def __getitem__(self, i):
        return torch.full((1500,), float(i))


def number(batch):
    """The first row's, of a batch of Rows; -1: its rows are not what they were."""
    first = int(batch[0, 0])
    rows = torch.arange(first, first + len(batch), dtype=batch.dtype)
    return first if torch.equal(batch, rows[:, None].expand_as(batch)) else -1


class Before:
    """Each batch with the number of the one before it."""

    def __init__(self):
        self.kept = None

    def __call__(self, samples):
        batch, before = default_collate(samples), self.kept
        self.kept = batch
        return batch, -2 if before is None else number(before)


class First(Before):
    def __call__(self, samples):
        batch = default_collate(samples)
        self.kept = batch if self.kept is None else self.kept
        return batch, self.kept


class Row(Before):
    """Keeps a part of each batch."""

    def __call__(self, samples):
        batch, before = default_collate(samples), self.kept
        self.kept = batch[1:2, 10:]
        return batch, -2 if before is None else number(before)


class Cache:
    def __init__(self):
        self.made = {}

    def __call__(self, samples):
        key = int(samples[0][0])
        if key not in self.made:
            self.made[key] = default_collate(samples)
        return self.made[key]


class Overwriting:
    """Fills the same tensor again for each batch."""

    def __init__(self):
        self.kept = None

    def __call__(self, samples):
        if self.kept is None:
            self.kept = default_collate(samples)
        else:
            torch.stack(samples, out=self.kept)
        return self.kept


class InTracebacks:
    """Exceptions hold the batches of every third call."""

    def __init__(self):
        self.errors = []

    def __call__(self, samples):
        batch = default_collate(samples)
        try:
            if int(samples[0][0]) % 3 == 0:
                raise ValueError
        except ValueError as error:
            self.errors.append(error)
        held = [error.__traceback__.tb_frame.f_locals["batch"] for error in self.errors]
        return batch, [int(one[0, 0]) for one in held], [number(one) for one in held]


class Buffered(torch.utils.data.IterableDataset):
    """Gives batches in pairs, the later one first."""

    def __iter__(self):
        for i in range(0, 40, 4):
            pair = [default_collate([Rows(40)[j] for j in range(begin, begin + 2)])
                    for begin in (i, i + 2)]
            yield pair[1]
            yield pair[0]


class Dying(Before):
    """As Before, and each worker ends after some batches."""

    def __call__(self, samples):
        made = super().__call__(samples)
        self.calls = getattr(self, "calls", 0) + 1
        if self.calls == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return made


class Inner(Rows):
    """Samples come through torch's loader, whose workers are forked."""

    def __getitem__(self, i):
        loader = torch.utils.data.DataLoader([torch.full((1500,), float(i))] * 2, num_workers=1)
        return next(iter(loader))[0]


class Forking:
    """Forks while the batch is half made: the child writes into what it has."""

    def __call__(self, samples):
        batch = default_collate(samples)
        pid = os.fork()
        if pid == 0:
            batch.fill_(-5)
            default_collate(samples).fill_(-6)
            os._exit(0)
        os.waitpid(pid, 0)
        return batch, default_collate(samples)


def negative(row):
    return -row


class Pooled(Rows):
    """Has processes that stay, forked by multiprocessing."""

    pool = None

    def __getitem__(self, i):
        if self.pool is None:
            self.pool = multiprocessing.get_context("fork").Pool(1)
        return -self.pool.apply(negative, (torch.full((1500,), float(i)).numpy(),))
