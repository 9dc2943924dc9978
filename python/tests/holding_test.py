#!/usr/bin/env python3
"""Batches that a program holds: how many, for how long the next one waits, and what that says.

    PYTHONPATH=BUILD/python holding_test.py BUILD
"""

import gc
import os
import pickle
import sys
import threading
import unittest

import brigade
from graphs import EPOCH, SAMPLES, graph, open_loader, seen, whole


class Holding(unittest.TestCase):
    def test_too_many_says_where_they_were_taken(self):
        with open_loader(graph(), "work", hold=3) as loader:
            batches = []
            with self.assertRaises(brigade.HeldError) as caught:
                for batch in loader:
                    batches.append(batch)
            self.assertEqual(len(batches), 3)
            self.assertIn(f"{os.path.basename(__file__)}:", str(caught.exception))
            batches.clear()
            del batch
            self.assertEqual(sum(one.size for one in loader), SAMPLES)

    def test_an_error_at_once_and_a_wait_that_is_logged(self):
        with open_loader(graph(), hold=1, hold_timeout=0) as loader:
            iterator = iter(loader)
            held = next(iterator)
            with self.assertRaisesRegex(brigade.HeldError, "within `hold_timeout: 0s`"):
                next(iterator)
            del held
        expected, waits = whole(1)[0][1], threading.Event()

        def note(event):
            if event.kind == "stalled":
                waits.set()

        def release():
            waits.wait()
            held.clear()
        with self.assertLogs("brigade", "WARNING") as log, \
                open_loader(graph(), hold=1, hold_timeout=3600, on_event=note) as loader:
            iterator = iter(loader)
            held = [next(iterator)]
            thread = threading.Thread(target=release)
            thread.start()
            self.assertEqual(seen(next(iterator)), expected)
            thread.join()
        self.assertEqual(len(log.output), 1)
        self.assertRegex(log.output[0], "waits for the program to release a batch, for at most "
                         "`hold_timeout: 1h`: the program holds 1 of `hold: 1`.* batch 0 .taken at")

    def test_those_of_earlier_epochs_hold_up_nothing(self):
        epochs = whole(4)
        with open_loader(graph()) as loader:
            for first in loader:
                pass
            for second in loader:
                third = second.tensor("data")
            self.assertEqual([seen(batch) for batch in loader], epochs[2])
            self.assertEqual([seen(batch) for batch in loader], epochs[3])
            self.assertEqual(seen(first), epochs[0][-1])
            self.assertEqual(bytes(third), epochs[1][-1][3])

    def test_cycles_are_collected(self):
        with open_loader(graph(), hold=2) as loader:
            gc.disable()
            try:
                for batch in loader:
                    cycle = [batch.tensor("data")]
                    cycle.append(cycle)
                    del cycle, batch
            finally:
                gc.enable()

    def test_batches_outlive_the_loader(self):
        with open_loader(graph()) as loader:
            batch = next(iter(loader))
            before = seen(batch)
        view = memoryview(batch.tensor("data"))
        del loader, batch
        gc.collect()
        self.assertEqual(bytes(view), before[3])

    def test_copies_hold_nothing(self):
        with brigade.Loader(graph(), tensors="numpy") as loader:
            copies = [batch.clone() for batch in loader]
            again = pickle.loads(pickle.dumps(copies[3]))
            self.assertEqual(again.ids, copies[3].ids)
            self.assertTrue((again["data"] == copies[3].data).all())
            self.assertEqual(len(copies), len(EPOCH))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
