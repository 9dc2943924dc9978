#!/usr/bin/env python3
"""Ctrl-C lets the line run dry with clean books; a second one ends it at once."""

import json
import os
import signal
import time

from brigade_program import (ENDLESS, ENDLESS_WORKERS, ProgramTest, alive, line, main, wait_until,
                             workers_of)


class Stops(ProgramTest):
    def stop(self, number, code):
        path = self.folder / "summary.json"
        run = self.start_and_wait_for_workers(ENDLESS, ENDLESS_WORKERS, "--summary", path)
        time.sleep(0.2)
        os.kill(run.pid, number)
        finished = run.finish()
        self.assertEqual(finished.code, code, finished.err)
        self.assertIn("stopping: the line runs dry", finished.err)
        self.assertEqual(finished.errors(), [])
        summary = json.loads(path.read_text())
        self.assertEqual(len(summary["edges"]), 2)
        for edge in summary["edges"]:
            self.assertEqual(edge["leaked"], 0)
            self.assertEqual(edge["produced"], edge["delivered"])
        self.assertEqual(summary["samples"], summary["results"]["end"]["samples"])
        return summary

    def test_sigint_runs_dry(self):
        self.assertGreater(self.stop(signal.SIGINT, 130)["samples"], 0)

    def test_a_stream_is_read_as_it_is_written_and_ends_with_its_writer(self):
        pipe, run = self.start_stream()
        with open(pipe, "w", encoding="utf-8") as writer:
            writer.writelines(f"line {n}\n" for n in range(1000))
            writer.flush()
        finished = run.finish()
        self.assertEqual(finished.code, 0, finished.err)
        self.assertIn("end: samples 1,000", finished.out)

    def test_a_stream_that_waits_runs_dry_too(self):
        pipe, run = self.start_stream()
        with open(pipe, "w", encoding="utf-8") as writer:
            writer.write("one\ntwo\n")
            writer.flush()
            wait_until(lambda: len(workers_of(run.pid)) == 4, "4 workers")
            time.sleep(0.3)
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

    def test_sigterm_runs_dry(self):
        self.stop(signal.SIGTERM, 143)

    def test_a_second_one_ends_it_at_once(self):
        graph = line(count=100_000, ms=60_000, replicas=1)  # runs dry after a minute
        run = self.start_and_wait_for_workers(graph, 3)
        time.sleep(0.2)
        os.kill(run.pid, signal.SIGINT)
        time.sleep(0.2)
        self.assertIsNone(run.process.poll())
        os.kill(run.pid, signal.SIGINT)
        finished = run.finish()
        self.assertEqual(finished.code, 130)
        self.assertIn("ended at once, as asked", finished.err)

    def test_a_line_that_does_not_run_dry_ends_at_its_deadline(self):
        graph = "drain: 300ms\n" + line(count=100_000, ms=60_000, replicas=1)
        run = self.start_and_wait_for_workers(graph, 3)
        time.sleep(0.2)
        os.kill(run.pid, signal.SIGTERM)
        finished = run.finish()
        self.assertEqual(finished.code, 143)
        self.assertIn("did not run dry within 300.0 ms", finished.err)

    def test_a_stop_at_any_time_of_the_start_ends_it(self):
        for delay in (0, 0.003, 0.006, 0.01, 0.015, 0.02, 0.03, 0.05):
            run = self.start(ENDLESS)
            time.sleep(delay)
            os.kill(run.pid, signal.SIGTERM)
            finished = run.finish()
            # Before main() takes over, the signal has its usual effect.
            self.assertIn(finished.code, (143, -signal.SIGTERM), finished.err)
            self.assertEqual(finished.errors(), [])

    def test_in_one_process_it_runs_dry_too(self):
        run = self.start(ENDLESS, "--in-process")
        time.sleep(0.5)
        os.kill(run.pid, signal.SIGINT)
        finished = run.finish()
        self.assertEqual(finished.code, 130, finished.err)
        self.assertIn("leaked 0", finished.out)

    def test_ctrl_c_of_the_terminal_reaches_the_supervisor_alone(self):
        run = self.start_and_wait_for_workers(ENDLESS, ENDLESS_WORKERS)
        group = os.getpgid(run.pid)
        for pid in workers_of(run.pid).values():
            self.assertNotEqual(os.getpgid(pid), group)
        os.kill(run.pid, signal.SIGTERM)
        run.finish()

    def test_a_stopped_worker_is_not_declared_dead(self):
        run = self.start_and_wait_for_workers(line(count=3000, ms=0.1), 4)
        worker = workers_of(run.pid)["slow.0"]
        os.kill(worker, signal.SIGSTOP)
        time.sleep(1)
        self.assertIsNone(run.process.poll())
        self.assertTrue(alive(worker))
        os.kill(worker, signal.SIGCONT)
        self.assertEqual(run.finish().code, 0)

    def test_the_reader_of_its_output_may_go(self):
        run = self.start_and_wait_for_workers(line(count=3000, ms=0.1), 4)
        run.process.stdout.close()
        run.process.stderr.close()
        wait_until(lambda: run.process.poll() is not None, "the end of the run")
        self.assertEqual(run.process.returncode, 0)


if __name__ == "__main__":
    main()
