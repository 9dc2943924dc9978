"""Batches of brigade.DataLoader stay as they are if workers keep parts of them, or if a process
forks."""

import os
import sys
import unittest

try:
    import torch
    import kept_sets
except ImportError as error:
    print(f"skipped: {error} (python3-torch)")
    sys.exit(77)

import brigade
from kept_sets import Rows, number

BATCHES = list(range(0, 40, 2))


def open_loader(collate=None, dataset=None, workers=1, **options):
    options = {"batch_size": 2, **options}
    return brigade.DataLoader(dataset or Rows(40), num_workers=workers, collate_fn=collate,
                              **options)


class InWorkers(unittest.TestCase):
    """What a collate_fn keeps is its own; the loop writes into every batch."""

    def batches(self, *arguments, epochs=1, **options):
        with open_loader(*arguments, **options) as loader:
            for _ in range(epochs):
                held = []
                for made in loader:
                    batch, *others = made if isinstance(made, (list, tuple)) else [made]
                    held.append((batch, number(batch)))
                    yield [held[-1][1], *others]
                    if len(held) > 3:
                        self.assertEqual(*map(int, (held[0][0][0, 0], held[0][1])))
                        held.pop(0)[0].fill_(-1)

    def test_the_batch_before(self):
        for collate, first in ((kept_sets.Before(), 0), (kept_sets.Row(), 1)):
            self.assertEqual(list(self.batches(collate)),
                             [[i, i - 2 + first if i else -2] for i in BATCHES])

    def test_the_first_one(self):
        self.assertEqual([[batch, number(first)] for batch, first in
                          self.batches(kept_sets.First())], [[i, 0] for i in BATCHES])

    def test_all_of_them(self):
        made = self.batches(kept_sets.Cache(), epochs=3, persistent_workers=True)
        self.assertEqual(list(made), [[i] for i in BATCHES] * 3)

    def test_one_that_is_filled_again(self):
        for prefetch in (1, 4):
            made = self.batches(kept_sets.Overwriting(), prefetch_factor=prefetch)
            self.assertEqual(list(made), [[i] for i in BATCHES])

    def test_in_tracebacks(self):
        for _, expected, found in self.batches(kept_sets.InTracebacks()):
            self.assertEqual(expected, found)

    def test_a_buffer_of_an_iterable_dataset(self):
        made = self.batches(torch.utils.data.default_convert, kept_sets.Buffered(),
                            batch_size=None)
        self.assertEqual([number for number, in made],
                         [i + j for i in range(0, 40, 4) for j in (2, 0)])

    def test_of_workers_that_die(self):
        with open_loader(kept_sets.Dying(), workers=2) as loader:
            for i, (batch, before) in enumerate(loader):
                self.assertEqual(number(batch), 2 * i)
                # Who makes a dead one's batch again may have made later ones.
                self.assertIn(before, {-2, *range(0, 40, 2)} - {2 * i})

    def test_memory_of_loops_that_are_left_goes_round(self):
        with open_loader(kept_sets.Before(), workers=2, persistent_workers=True) as loader:
            for _ in range(60):
                for batch in loader:
                    break
            self.assertLess(len(loader._pool._arena._maps), 24)


class Forks(unittest.TestCase):
    def test_of_workers(self):
        for dataset in (kept_sets.Inner(8), kept_sets.Pooled(8)):
            for workers in (1, 2):
                with open_loader(dataset=dataset, workers=workers) as loader:
                    self.assertEqual([number(batch) for batch in loader], [0, 2, 4, 6])

    def test_in_the_middle_of_a_batch(self):
        with open_loader(kept_sets.Forking()) as loader:
            for i, pair in zip(BATCHES, loader):
                self.assertEqual([number(one) for one in pair], [i, i])

    def child(self, held):
        """One that looks at batches when a byte comes, and at itself after it has written."""
        ask, told = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.read(ask[0], 1)
                seen = [number(one) for one in held]
                for one in held:
                    one.fill_(-1)
                os.write(told[1], repr(seen).encode())
                os.read(ask[0], 1)
            finally:
                os._exit(0)
        os.close(ask[0])
        os.close(told[1])
        return pid, ask[1], told[0]

    def test_of_the_program(self):
        """A child reads what was held, long after its parent has used up other batches."""
        with open_loader(workers=2, persistent_workers=True) as loader:
            iterator = iter(loader)
            held = [next(iterator), next(iterator)]
            pid, ask, told = self.child(held)
            kept, held = held[1], None
            for _ in range(3):
                for i, batch in zip(BATCHES, loader):
                    self.assertEqual(number(batch), i)
            os.write(ask, b"1")
            self.assertEqual(os.read(told, 100), b"[0, 2]")
            self.assertEqual(number(kept), 2)  # the child has written into its own
            os.write(ask, b"2")
            os.waitpid(pid, 0)
            os.close(ask)
            os.close(told)
            before = len(loader._pool._arena._maps)
            for _ in range(3):
                list(loader)
            self.assertEqual(list(loader._pool._arena._inherited), [])
            self.assertLess(len(loader._pool._arena._maps), before + 24)

    def test_what_the_dataset_shares_with_the_program(self):
        with open_loader() as loader:
            batch = next(iter(loader))

            class Changes(Rows):
                def __getitem__(self, i):
                    seen = batch.clone()
                    batch.add_(1)
                    return seen

            with open_loader(dataset=Changes(2), batch_size=None) as changed:
                self.assertEqual([int(one[0, 0]) for one in changed], [0, 1])
            self.assertEqual(number(batch), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
