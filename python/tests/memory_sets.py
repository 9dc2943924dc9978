"""Datasets and collate functions whose batches have small parts beside a large one."""

import collections
import os

import numpy
import torch
from torch.utils.data import default_collate

from data_sets import Numbers

Pair = collections.namedtuple("Pair", "picture label")


class Pictures(Numbers):
    """Half a MiB each, and a number."""

    def __getitem__(self, i):
        return torch.full((512, 1024), i % 200, dtype=torch.uint8), i


class Stream(torch.utils.data.IterableDataset):
    """Pictures, and the process that has made each."""

    def __init__(self, length):
        self.pictures = Pictures(length)

    def __iter__(self):
        return ((*self.pictures[i], os.getpid()) for i in range(len(self.pictures)))


class WithFirst:
    """Each batch with the first one of its worker."""

    def __init__(self):
        self.first = None

    def __call__(self, samples):
        batch = default_collate(samples)
        self.first = batch if self.first is None else self.first
        return [*batch, self.first[0]]


def pairs(samples):
    return Pair(*default_collate(samples))  # which is pickled


def arrays(samples):
    return Pair(*(one.numpy() for one in default_collate(samples)))


def with_part(samples):
    """The second is a part of the first, in the same memory."""
    batch = default_collate([picture for picture, _ in samples])
    return batch, batch[0, 0, :8]


def with_part_pickled(samples):
    return Pair(*with_part(samples))


def read_only(samples):
    picture, label = default_collate(samples)
    label = label.numpy()
    label.flags.writeable = False
    return picture, label


def many(samples):
    """More small ones than get memory of their own."""
    picture, label = default_collate(samples)
    return [picture, *(numpy.full(20000, int(label[0]) + i) for i in range(16))]
