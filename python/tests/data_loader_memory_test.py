"""Memory that a program needs which keeps batches of a brigade.DataLoader, or parts of them."""

import os
import signal
import sys
import unittest
from unittest import mock

try:
    import torch
    import memory_sets
except ImportError as error:
    print(f"skipped: {error} (python3-torch, python3-numpy)")
    sys.exit(77)

import brigade
from brigade import _arena
from memory_sets import Pictures

MB = 1 << 20
BATCHES = 40  # of 1 MiB each


def open_loader(collate=None, dataset=None, **options):
    dataset = dataset or Pictures(2 * BATCHES)
    return brigade.DataLoader(dataset, **{"batch_size": 2, "num_workers": 1, "collate_fn": collate,
                                          "persistent_workers": True, **options})


def memory(loader):
    """Bytes of the file in which the loader's batches lie."""
    return os.fstat(loader._pool._arena.descriptor).st_blocks * 512


def mappings():
    with open("/proc/self/maps") as lines:
        return sum("memfd:brigade-batches" in line for line in lines)


class PartsThatAreKept(unittest.TestCase):
    COLLATES = [None, memory_sets.pairs, memory_sets.arrays]

    def kept(self, part, collate, **options):
        """(what is kept of each batch, bytes of all blocks then)"""
        with open_loader(collate, **options) as loader:
            made = [part(batch) for batch in loader]
            return made, memory(loader)

    def test_a_label_does_not_keep_the_pictures(self):
        for collate in self.COLLATES:
            labels, size = self.kept(lambda batch: batch[1], collate)
            for i, label in enumerate(labels):
                self.assertEqual(label.tolist(), [2 * i, 2 * i + 1])
                label += 1  # it may be written
            self.assertLess(size, 20 * MB)

    def test_pictures_keep_their_batch(self):
        """The control: what the memory would be."""
        for collate in self.COLLATES:
            pictures, size = self.kept(lambda batch: batch[0][:1, :1], collate)
            self.assertEqual([int(one[0, 0, 0]) for one in pictures], list(range(0, 80, 2)))
            self.assertGreater(size, BATCHES * MB)

    def test_parts_that_share_memory_still_share_it(self):
        for collate in (memory_sets.with_part, memory_sets.with_part_pickled):
            with open_loader(collate) as loader:
                for batch, part in loader:
                    batch.add_(1)
                    self.assertTrue(torch.equal(part, batch[0, 0, :8]))

    def test_what_is_read_only_stays_so(self):
        with open_loader(memory_sets.read_only) as loader:
            for _, label in loader:
                self.assertFalse(label.flags.writeable)

    def test_many_small_ones_are_copied_up_to_a_sum(self):
        with open_loader(memory_sets.many) as loader:
            for i, batch in enumerate(loader):
                self.assertEqual([int(one[-1]) for one in batch[1:]],
                                 list(range(2 * i, 2 * i + 16)))


class Skipped(unittest.TestCase):
    """What an iterable dataset makes once more, since it has no state, takes no batch's memory."""

    def open(self, collate=None):
        return open_loader(collate, memory_sets.Stream(2 * BATCHES))

    def rest(self, iterator, loader, begin):
        """The most bytes of blocks while the rest is read."""
        most = 0
        for i, batch in enumerate(iterator, begin):
            self.assertEqual(batch[1].tolist(), [2 * i, 2 * i + 1])
            self.assertEqual(int(batch[0][1, -1, -1]), 2 * i + 1)
            if len(batch) > 3:
                self.assertEqual(int(batch[3][1, -1, -1]), 1)  # of the first one
            most = max(most, memory(loader))
        self.assertEqual(i, BATCHES - 1)
        return most

    def test_by_an_epoch_that_is_resumed(self):
        for collate in (None, memory_sets.WithFirst()):
            with self.open(collate) as loader:
                for _ in zip(range(BATCHES - 5), loader):
                    pass
                state = loader.state_dict()
            with self.open(collate) as loader:
                loader.load_state_dict(state)
                self.assertLess(self.rest(iter(loader), loader, BATCHES - 5), 20 * MB)

    def test_by_the_successor_of_a_dead_worker(self):
        with self.open() as loader:
            iterator = iter(loader)
            for _ in range(BATCHES - 5):
                worker = int(next(iterator)[2][0])
            os.kill(worker, signal.SIGKILL)
            self.assertLess(self.rest(iterator, loader, BATCHES - 5), 20 * MB)


class Many(unittest.TestCase):
    """Batches that are kept in a great number need no mapping each."""

    def test_are_copied_beyond_a_bound(self):
        for most, is_bounded in ((10, True), (1000, False)):
            with mock.patch.object(_arena, "_MAPPINGS_MAX", most), \
                    open_loader(dataset=Pictures(400)) as loader:
                before, kept = mappings(), list(loader)
                self.assertEqual([one[1].tolist() for one in kept],
                                 [[i, i + 1] for i in range(0, 400, 2)])
                for i, (pictures, _) in enumerate(kept):
                    self.assertEqual(int(pictures[1, -1, -1]), (2 * i + 1) % 200)
                    pictures.zero_()
                self.assertEqual(mappings() - before < 30, is_bounded)
                del pictures, kept
                for i, (pictures, _) in enumerate(loader):  # the same blocks, and nothing is lost
                    self.assertEqual(int(pictures[0, 0, 0]), 2 * i % 200)
                self.assertEqual(mappings() - before < 30, is_bounded)


class Lines(unittest.TestCase):
    def setUp(self):
        _arena._said.clear()
        self.addCleanup(_arena._said.clear)

    def test_one_says_what_is_kept(self):
        with mock.patch.object(_arena, "_HELD_MAX", 10 * MB), \
                self.assertLogs("brigade", "WARNING") as log, open_loader() as loader:
            kept = [batch[0][:1] for _ in range(2) for batch in loader]
        self.assertEqual((len(kept), len(log.output)), (2 * BATCHES, 1))
        self.assertIn("copy what you need longer (tensor.clone()", log.output[0])

    def test_none_of_a_loop_that_keeps_labels(self):
        with mock.patch.object(_arena, "_HELD_MAX", 10 * MB), \
                self.assertNoLogs("brigade", "WARNING"), open_loader() as loader:
            labels = [batch[1] for batch in loader]
        self.assertEqual(len(labels), BATCHES)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
