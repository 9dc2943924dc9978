"""Graphs that tests of the package read, and what they see of them."""

import copy
import logging
import unittest

import brigade
from processes import children, name_of

logging.getLogger("brigade").propagate = False  # what tests cause on purpose
logging.getLogger("brigade").addHandler(logging.NullHandler())

SAMPLES, BATCH = 1000, 64
EPOCH = [BATCH] * 15 + [40]
GRAPH = {
    "seed": 3,
    "stages": {
        "numbers": {"producer": "synthetic", "shuffle": True,
                    "params": {"count": SAMPLES, "shape": [3], "dtype": "f32"}},
        "work": {"transform": "delay", "from": "numbers", "replicas": 2, "batch": BATCH},
        "train": {"consumer": "application", "from": "work"},
    },
}


def graph(**stages):
    made = copy.deepcopy(GRAPH)
    for name, keys in stages.items():
        made["stages"].setdefault(name, {}).update(keys)
    return made


def seen(batch):
    """All that a training loop would see of it."""
    return batch.epoch, batch.index, batch.ids, bytes(batch.tensor("data"))


def open_loader(*arguments, **options):
    return brigade.Loader(*arguments, **{"tensors": "dlpack", **options})


def whole(epochs, **options):
    with open_loader(graph(), **options) as loader:
        return [[seen(batch) for batch in loader] for _ in range(epochs)]


def workers():
    """Processes that were started here, without those that fork the workers of a DataLoader."""
    return {pid for pid in children() if name_of(pid) != "brigade-forker"}


class NeedsNumPy(unittest.TestCase):
    """Skipped where it is not installed."""

    def setUp(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed (python3-numpy)")
        self.numpy = numpy
