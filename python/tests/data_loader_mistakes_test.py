"""brigade.DataLoader used wrongly, and datasets that fail."""

import sys
import threading
import unittest

import brigade
import data_sets
from data_loader_test import open_loader, plain, whole
from data_sets import Failing, Large, Numbers, Parts, at_most_4_mib


class Mistakes(unittest.TestCase):
    def test_exceptions_have_their_type_and_the_worker_s_traceback(self):
        with open_loader(Failing(10, at=5), 2, num_workers=2) as loader:
            iterator = iter(loader)
            next(iterator), next(iterator)
            with self.assertRaisesRegex(KeyError, "in worker . of the DataLoader:\nTraceback.*\n"
                                                  "  File .*data_sets.py(.|\n)*no five"):
                next(iterator)
            self.assertEqual(plain(next(iterator)), [6, 7])  # as torch goes on
            self.assertEqual(plain(next(iterator)), [8, 9])

    def test_exceptions_that_cannot_be_made_again(self):
        for count in (0, 2):
            with open_loader(Failing(4, at=1, how="odd"), num_workers=count) as loader:
                with self.assertRaisesRegex(data_sets.Odd if count == 0 else RuntimeError, "Odd"):
                    list(loader)

    def test_the_end_of_a_program_is_an_error_of_the_batch(self):
        for how, kind in (("leave", "SystemExit"), ("interrupt", "KeyboardInterrupt"),
                          ("panic", "Panic")):
            with open_loader(Failing(4, at=1, how=how), num_workers=1) as loader:
                iterator = iter(loader)
                next(iterator)
                with self.assertRaisesRegex(RuntimeError, f"{kind} in worker 0"):
                    next(iterator)
                self.assertEqual(plain(next(iterator)), [2])

    def test_a_batch_that_cannot_be_sent(self):
        with open_loader(Numbers(3), num_workers=1, collate_fn=data_sets.generator) as loader:
            with self.assertRaisesRegex(TypeError, "the result of a worker cannot be sent to the "
                                                   "program: cannot pickle 'generator'"):
                next(iter(loader))

    def test_a_batch_that_is_too_large_says_so(self):
        with open_loader(Large(4), 1, num_workers=1, worker_init_fn=at_most_4_mib) as loader:
            iterator = iter(loader)
            sizes = [len(next(iterator)[0]) for _ in range(2)]
            with self.assertRaisesRegex(MemoryError, "limit of 3145728; use a smaller batch"):
                next(iterator)
            self.assertEqual([*sizes, len(next(iterator)[0])], 3 * [100000])

    def test_stop_iteration_of_a_dataset_ends_no_epoch_in_silence(self):
        for count in (0, 2):
            with open_loader(Failing(4, at=1, how="stop"), num_workers=count) as loader:
                with self.assertRaisesRegex(RuntimeError, "raised StopIteration"):
                    list(loader)

    def test_what_cannot_be_pickled_is_named(self):
        dataset = Numbers(3)
        dataset.files = {"log": [None, threading.Lock()]}
        with self.assertRaisesRegex(TypeError, r"dataset.files\['log'\]\[1\], a lock, cannot be "
                                               "sent to workers.*__getstate__"):
            iter(open_loader(dataset, num_workers=1, multiprocessing_context="spawn"))
        self.assertEqual(len(whole(dataset)), 3)

    def test_of_parameters(self):
        for message, options in (
                ("num_workers=-1: expected a whole number from 0 to 256", {"num_workers": -1}),
                ("num_workers=300: expected a whole", {"num_workers": 300}),
                ("prefetch_factor=0: expected a whole", {"prefetch_factor": 0, "num_workers": 1}),
                ("non-negative", {"timeout": -1}),
                ("prefetch_factor=2 needs num_workers", {"prefetch_factor": 2}),
                ("needs num_workers", {"persistent_workers": True}),
                ("mutually exclusive", {"sampler": [1], "shuffle": True}),
                ("mutually exclusive", {"batch_sampler": [[1]], "batch_size": 2}),
                ("mutually exclusive", {"batch_size": None, "drop_last": True}),
                ("positive integer", {"batch_size": 0}),
                ("expected one of", {"multiprocessing_context": "no", "num_workers": 1}),
                ("context needs num_workers", {"multiprocessing_context": "spawn"})):
            with self.assertRaisesRegex(ValueError, message):
                open_loader(Numbers(3), **options)
        for name, value in (("num_workers", "2"), ("prefetch_factor", 1.5), ("timeout", "1")):
            with self.assertRaisesRegex(TypeError, f"{name}='?{value}'?: expected"):
                open_loader(Numbers(3), **{"num_workers": 1, name: value})
        with self.assertRaisesRegex(ValueError, "batch_size='4': expected"):
            open_loader(Numbers(3), "4")
        with self.assertRaisesRegex(ValueError, "an iterable dataset has its own order"):
            open_loader(Parts(3), shuffle=True)
        loader = open_loader(Numbers(3), multiprocessing_context="spawn", num_workers=1)
        with self.assertRaisesRegex(ValueError, "create a new one"):
            loader.batch_size = 3
        with self.assertRaisesRegex(ValueError, "expected the result of state_dict"):
            loader.load_state_dict({"version": 7})

    def test_a_batch_that_takes_too_long(self):
        with open_loader(Failing(4, at=1, how="sleep"), num_workers=1, timeout=0.5) as loader:
            iterator = iter(loader)
            with self.assertRaisesRegex(RuntimeError, "timeout=0.5"):
                next(iterator), next(iterator)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
