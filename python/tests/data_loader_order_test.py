"""brigade.DataLoader where one batch takes longer than others: with in_order=False batches come as
they finish, and else finished ones wait for it; a state says which were given."""

import json
import os
import pathlib
import signal
import tempfile
import unittest
from unittest import mock

import brigade
from brigade import _data_epochs
from graphs import workers
from order_sets import Stream, Waiting


class Order(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.mark = pathlib.Path(folder.name, "mark")

    def open(self, dataset, **options):
        options = {"batch_size": 1, "num_workers": 2, "collate_fn": list, **options}
        return brigade.DataLoader(dataset, **options)

    def any(self, dataset, **options):
        return self.open(dataset, in_order=False, **options)

    def test_batches_come_as_they_finish(self):
        with self.any(Waiting(100, self.mark)) as loader:
            came = []
            for i, in loader:
                came.append(i)
                if len(came) == 40:
                    self.mark.touch()
        self.assertNotIn(0, came[:40])
        self.assertEqual(sorted(came), list(range(100)))

    def test_finished_batches_wait_in_order(self):
        with self.open(Waiting(100, self.mark, marks=40), timeout=60) as loader:
            self.assertEqual([i for i, in loader], list(range(100)))

    def test_finished_batches_wait_up_to_a_size(self):
        """As many as torch's loader has ahead, and no more."""
        with mock.patch.object(_data_epochs, "_WAITING_BYTES_MAX", 0), \
                self.open(Waiting(100, self.mark, marks=4), timeout=2) as loader:
            with self.assertRaisesRegex(RuntimeError, "timed out"):
                next(iter(loader))
            self.mark.touch()

    def test_a_state_says_which_were_given(self):
        for options in ({"num_workers": 0}, {}, {"in_order": False}, {"num_workers": 1}):
            self.mark.unlink(missing_ok=True)
            dataset = Waiting(60, self.mark)
            with self.any(dataset) as loader:
                iterator = iter(loader)
                came = [next(iterator)[0] for _ in range(20)]
                state = json.loads(json.dumps(loader.state_dict()))
                self.mark.touch()
            with self.any(dataset) as loader:
                loader.load_state_dict(state)
                iterator = iter(loader)
                came += [next(iterator)[0] for _ in range(20)]
                state = loader.state_dict()
            with self.open(dataset, **options) as loader:
                loader.load_state_dict(state)
                rest = [i for i, in loader]
                again = [i for i, in loader]
            if options != {"in_order": False}:
                self.assertEqual(rest, sorted(rest))
            self.assertEqual(sorted(came + rest), list(range(60)))
            self.assertEqual(sorted(again), list(range(60)))

    def test_workers_may_die(self):
        before = workers()
        with self.any(Waiting(100, self.mark)) as loader:
            came = []
            for i, in loader:
                came.append(i)
                if len(came) in (10, 20):
                    for pid in workers() - before:
                        os.kill(pid, signal.SIGKILL)
                if len(came) == 40:
                    self.mark.touch()
        self.assertEqual(sorted(came), list(range(100)))

    def test_an_error_is_passed_once(self):
        with self.any(Waiting(20, self.mark, marks=10, fails=(3, 0))) as loader:
            iterator, came, failed = iter(loader), [], []
            for passed in range(20):
                if passed == 18:
                    state = loader.state_dict()
                try:
                    came += next(iterator)
                except ValueError as error:
                    failed.append(str(error).rpartition("ValueError: ")[2])
            self.assertIsNone(next(iterator, None))
        self.assertEqual(sorted(failed), ["0", "3"])
        with self.open(Waiting(20, self.mark)) as loader:
            loader.load_state_dict(state)
            rest = [i for i, in loader]
        self.assertEqual(sorted(came), [1, 2, *range(4, 20)])
        self.assertEqual(len(rest), 2)

    def test_of_iterable_datasets(self):
        with self.any(Stream(self.mark)) as loader:
            iterator = iter(loader)
            came = [next(iterator)[0] for _ in range(12)]
            state = loader.state_dict()
            self.mark.touch()
            whole = came + [one for one, in iterator]
        self.assertEqual(came, [(1, i) for i in range(12)])
        with self.any(Stream(self.mark)) as loader:
            loader.load_state_dict(state)
            resumed = came + [one for one, in loader]
        for given in (whole, resumed):
            for worker in range(2):
                self.assertEqual([i for one, i in given if one == worker], list(range(20)))


if __name__ == "__main__":
    unittest.main(argv=["data_loader_order_test.py"])
