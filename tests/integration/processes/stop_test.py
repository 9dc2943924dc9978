#!/usr/bin/env python3
"""Ctrl-C drains the line with a clean audit; a second one ends it at once."""

import json
import os
import pathlib
import re
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from brigade_program import (ENDLESS, ENDLESS_WORKERS, ProgramTest, line, main, wait_until,
                             workers_of)


class Stops(ProgramTest):
    def stop(self, number, code):
        path = self.folder / "summary.json"
        run = self.start_and_wait_for_samples(ENDLESS, ENDLESS_WORKERS, "end", "--summary", path)
        os.kill(run.pid, number)
        finished = run.finish()
        self.assertEqual(finished.code, code, finished.err)
        self.assertIn("stopping: the pipeline drains", finished.err)
        self.assertEqual(finished.errors(), [])
        summary = json.loads(path.read_text())
        self.assertEqual(len(summary["edges"]), 2)
        for edge in summary["edges"]:
            self.assertEqual(edge["leaked"], 0)
            self.assertEqual(edge["produced"], edge["delivered"])
        self.assertEqual(summary["samples"], summary["results"]["end"]["samples"])
        return summary

    def test_sigint_drains(self):
        self.assertGreater(self.stop(signal.SIGINT, 130)["samples"], 0)

    def test_a_stream_is_read_as_it_is_written_and_ends_with_its_writer(self):
        pipe, run = self.start_stream()
        with open(pipe, "w", encoding="utf-8") as writer:
            writer.writelines(f"line {n}\n" for n in range(1000))
            writer.flush()
        finished = run.finish()
        self.assertEqual(finished.code, 0, finished.err)
        self.assertIn("end: samples 1,000", finished.out)

    def test_a_stream_that_waits_drains_too(self):
        pipe, run = self.start_stream()
        with open(pipe, "w", encoding="utf-8") as writer:
            writer.write("one\ntwo\n")
            writer.flush()
            wait_until(lambda: len(workers_of(run.pid)) == 4, "4 workers")
            wait_until(lambda: self.has_consumed(run, "end"), "the lines at their end")
            run.process.send_signal(signal.SIGINT)
            finished = run.finish()
        self.assertEqual(finished.code, 130, finished.err)
        self.assertIn("end: samples 2,", finished.out)

    def start_stream(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        return pipe, self.start("""
stages:
  requests: {producer: lines, params: {file: pipe}}
  answer: {transform: passthrough, from: requests, replicas: 2}
  end: {consumer: count, from: {stage: answer, batch: 16}}
""")

    def test_sigterm_drains(self):
        self.stop(signal.SIGTERM, 143)

    def test_a_second_one_ends_it_at_once(self):
        graph = line(count=100_000, ms=60_000, replicas=1)  # drains after a minute
        log = self.write("log", "")
        run = self.start_and_wait_for_workers(graph, 3, "--log", log)
        wait_until(lambda: re.search(r"(?m)^slow\.0 .*works", self.leases(run)), "a sample at work")
        os.kill(run.pid, signal.SIGINT)
        wait_until(lambda: "stopping: the pipeline drains" in log.read_text(), "the first one")
        self.assertIsNone(run.process.poll())
        os.kill(run.pid, signal.SIGINT)
        finished = run.finish()
        self.assertEqual(finished.code, 130)
        self.assertIn("ended immediately, as requested", finished.err)

    def test_a_stop_at_any_time_of_the_start_ends_it(self):
        for delay in (0, 0.003, 0.006, 0.01, 0.015, 0.02, 0.03, 0.05):
            run = self.start(ENDLESS)
            time.sleep(delay)
            os.kill(run.pid, signal.SIGTERM)
            finished = run.finish()
            # Before main() takes over, the signal has its usual effect.
            self.assertIn(finished.code, (143, -signal.SIGTERM), finished.err)
            self.assertEqual(finished.errors(), [])


if __name__ == "__main__":
    main()
