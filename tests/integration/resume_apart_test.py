#!/usr/bin/env python3
"""Runs that are resumed although their consumers stood in different epochs of a flat_map, and what
they carry along besides positions."""

import json
import os
import signal

import brigade_program
import resume_test
from brigade_program import main, workers_of
from resume_test import FOREVER

ANEW = """
seed: 7
epochs: 8
checkpoint: {file: CHECKPOINT}
stages:
  numbers:
    producer: synthetic
    shuffle: true
    buffers: 60
    params: {count: 300, shape: [4], fill: random}
  left: {transform: repack, from: numbers, buffers: 60}
  work: {transform: delay, from: numbers}
  right: {transform: repack, from: work}
  fast:
    consumer: count
    from: {stage: left, batch: 50}
    RESTART
  middle:
    consumer: count
    from: {stage: left, batch: 30}
    params: {sleep_ms: 2}
    RESTART
  slow:
    consumer: count
    from: {stage: right, batch: 50}
    params: {sleep_ms: 20}
    RESTART
"""


class FlatMapped(resume_test.ResumeTest):
    """Consumers that save, below two `repack` of one source, disturbed while they stand in
    different epochs: each has its own beginning, and what it reports is what it always reports."""

    CONSUMERS = ("fast", "middle", "slow")
    SLOWLY = ("--set", "stages.slow.params.sleep_ms=100")

    def setUp(self):
        super().setUp()
        self.graph = ANEW.replace("CHECKPOINT", str(self.checkpoint)).replace("RESTART", FOREVER)

    def results(self):
        results = json.loads(self.summary.read_text())["results"]
        return {name: results[name] for name in self.CONSUMERS}

    def undisturbed(self):
        self.go()
        for path in self.folder.glob("line.ckpt*"):
            path.unlink()
        return self.results()

    def epochs(self):
        """In which each consumer is, by its checkpoint."""
        epochs = []
        for name in self.CONSUMERS:
            path = self.folder / f"line.ckpt.{name}.position"
            entry = json.loads(path.read_text())["entries"][0] if path.exists() else None
            epochs.append(entry["queues"][0]["epoch"] if entry else 0)
        return epochs

    def wait_until_apart(self, run):
        brigade_program.wait_until(
            lambda: self.epochs()[0] >= self.epochs()[2] + 2 > 2 or run.ended(), "epochs apart")
        self.assertFalse(run.ended(), "it came to its end before they were in different epochs")

    def test_after_the_supervisor_was_killed(self):
        expected = self.undisturbed()
        self.assertEqual([result["samples"] for result in expected.values()], [8 * 300] * 3)
        run = self.start(self.graph, "--quiet", *self.SLOWLY)
        self.wait_until_apart(run)
        run.process.kill()
        run.finish()
        self.assertGreater(len(set(self.epochs())), 1)
        self.go("--resume")
        self.assertEqual(self.results(), expected)

    def test_after_one_of_them_was_killed(self):
        expected = self.undisturbed()
        run = self.start(self.graph, "--summary", self.summary, *self.SLOWLY)
        self.wait_until_apart(run)
        os.kill(workers_of(run.pid)["slow.0"], signal.SIGKILL)
        finished = run.finish()
        self.assertEqual(finished.code, 0, finished.err)
        self.assertIn("the run resumes from its last checkpoint (restart 1 of 1000", finished.err)
        self.assertEqual(self.results(), expected)


if __name__ == "__main__":
    main()
