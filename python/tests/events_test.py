#!/usr/bin/env python3
"""What a program is told of a run: `on_event`.

    PYTHONPATH=BUILD/python events_test.py BUILD
"""

import os
import pickle
import signal
import sys
import tempfile
import threading
import unittest

import brigade
from data_sets import Failing
from graphs import SAMPLES, graph, open_loader

HANG = 60  # seconds


class Events(unittest.TestCase):
    def read(self, made):
        events = []
        with brigade.open(made, epochs=1, tensors="dlpack", on_event=events.append) as run:
            samples = sum(batch.size for batch in run["train"])
        return samples, events

    def of(self, events, kind):
        return [event for event in events if event.kind == kind]

    def test_of_a_worker_that_crashes(self):
        with tempfile.TemporaryDirectory() as folder:
            crashes = {"crash_once_at": [3], "crash_marker": f"{folder}/crashed"}
            samples, events = self.read(graph(work={"params": crashes}))
        (died,), (restarted,) = self.of(events, "died"), self.of(events, "restarted")
        self.assertEqual((died.stage, died.next, died.exit_code), ("work", "restart", None))
        self.assertIn(died.signal, list(signal.Signals))
        self.assertIsNotNone(died.sample)
        self.assertIn(f'stage "work" replica {died.replica} (pid {died.pid}) was killed by',
                      died.text)
        self.assertEqual((restarted.stage, restarted.replica, restarted.restarts),
                         ("work", died.replica, 1))
        self.assertNotIn(restarted.pid, (0, died.pid, os.getpid()))
        self.assertEqual(self.of(events, "quarantined"), [])
        self.assertEqual(len(self.of(events, "running")), 1)
        self.assertEqual(samples, SAMPLES)

    def test_of_the_end(self):
        _, events = self.read(graph())
        self.assertEqual([event.epoch for event in self.of(events, "epoch")], [0])
        self.assertEqual(events[-1].kind, "ended")
        self.assertEqual(events[-1].exit_code, 0)
        self.assertEqual(self.of(events, "died"), [])

    def test_of_a_sample_that_ends_its_workers(self):
        poison = {"params": {"crash_at": [3]}, "on_error": {"skip": 100},
                  "restart": {"backoff": "1ms", "burst": 100}}
        _, events = self.read(graph(work=poison))
        (one,) = self.of(events, "quarantined")
        self.assertEqual(one.stage, "work")
        self.assertIsNotNone(one.sample)
        self.assertEqual(len(self.of(events, "died")), one.deaths)

    def test_that_the_function_does_not_take_are_logged(self):
        def raises(event):
            raise KeyError("mine")
        with self.assertLogs("brigade", "ERROR") as log, \
                open_loader(graph(), epochs=1, on_event=raises) as loader:
            self.assertEqual(sum(batch.size for batch in loader), SAMPLES)
        self.assertIn("on_event raised an exception", log.output[0])


def ignore(event):
    pass


class Pids:
    """Of the workers; each prints a line to its standard error."""

    def __len__(self):
        return 8

    def __getitem__(self, i):
        print(f"sample {i}", file=sys.stderr)
        return os.getpid()


class OfADataLoader(unittest.TestCase):
    def setUp(self):
        self.events, self.restarted = [], threading.Event()

    def note(self, event):
        self.events.append(event)
        if event.kind == "restarted":
            self.restarted.set()

    def of(self, kind):
        return [event for event in self.events if event.kind == kind]

    def open(self, dataset, **options):
        return brigade.DataLoader(dataset, 2, num_workers=2, collate_fn=list, on_event=self.note,
                                  **options)

    def test_of_a_worker_that_is_killed(self):
        for method in ("fork", "spawn"):
            with self.subTest(method), self.open(Pids(), multiprocessing_context=method) as loader:
                self.setUp()
                iterator = iter(loader)
                pid = next(iterator)[0]
                os.kill(pid, signal.SIGKILL)
                self.assertTrue(self.restarted.wait(HANG))
                self.assertEqual(sum(1 for _ in iterator), 3)
                del iterator
            (died,), (restarted,) = self.of("died"), self.of("restarted")
            self.assertEqual((died.stage, died.pid, died.signal, died.next, died.sample),
                             ("DataLoader", pid, signal.SIGKILL, "restart", None))
            self.assertRegex(died.text, rf"DataLoader: worker {died.replica} \(pid {pid}\) was "
                                        "killed by SIGKILL.*; restarted")
            self.assertEqual((restarted.stage, restarted.replica), ("DataLoader", died.replica))
            self.assertNotIn(restarted.pid, (0, pid, os.getpid()))
            self.assertEqual(self.of("quarantined"), [])

    def test_of_a_batch_that_ends_every_worker(self):
        with self.open(Failing(10, at=5, how="exit")) as loader:
            with self.assertRaisesRegex(RuntimeError, "batch 2 ended its worker 3 times"):
                list(loader)
        self.assertEqual([event.exit_code for event in self.of("died")], [3, 3, 3])
        (quarantined,) = self.of("quarantined")
        self.assertEqual(quarantined.deaths, 3)
        self.assertEqual((quarantined.text, quarantined.sample),
                         ("DataLoader: a batch crashed 3 workers", None))
        self.assertEqual((self.events[-1].kind, self.events[-1].exit_code), ("ended", 1))

    def test_of_the_end_and_what_workers_print(self):
        with self.open(Pids()) as loader:
            self.assertEqual(len(list(loader)), 4)
        self.assertEqual({event.kind for event in self.events}, {"printed", "ended"})
        self.assertEqual(sorted(event.message for event in self.of("printed")),
                         [f"sample {i}" for i in range(8)])
        (ended,) = self.of("ended")
        self.assertIs(ended, self.events[-1])
        self.assertEqual((ended.exit_code, ended.signal, ended.text),
                         (0, 0, "DataLoader: the workers have ended"))

    def test_the_function_is_kept_where_a_loader_is_made_again(self):
        loader = brigade.DataLoader(Pids(), num_workers=1, collate_fn=list, on_event=ignore)
        again = pickle.loads(pickle.dumps(loader))
        self.assertIs(again.on_event, ignore)
        self.assertIs(again.num_workers.on_event, ignore)
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed (python3-torch)")
        for workers in (loader.num_workers, again.num_workers):  # as accelerate does
            rebuilt = torch.utils.data.DataLoader(Pids(), num_workers=workers, collate_fn=list)
            self.assertIsInstance(rebuilt, brigade.DataLoader)
            self.assertIs(rebuilt.on_event, ignore)

    def test_mistakes(self):
        for made in (brigade.DataLoader, lambda _, **options: open_loader(graph(), **options),
                     lambda _, **options: brigade.open(graph(), **options)):
            with self.assertRaisesRegex(TypeError, "on_event=5: expected a function"):
                made([1], on_event=5)
        loader = brigade.DataLoader([1], collate_fn=list)
        with self.assertRaisesRegex(ValueError, "on_event of a DataLoader cannot be changed"):
            loader.on_event = ignore


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
