#!/usr/bin/env python3
"""What a program is told of a run: `on_event`.

    PYTHONPATH=BUILD/python events_test.py BUILD
"""

import os
import signal
import sys
import tempfile
import unittest

import brigade
from graphs import SAMPLES, graph, open_loader


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
        self.assertIn("on_event has raised", log.output[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
