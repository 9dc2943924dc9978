#!/usr/bin/env python3
"""Runs that go well, and the summary that scripts rely on."""

import fcntl
import json
import os
import pty
import subprocess

import brigade_program
from brigade_program import (ENDLESS, ENDLESS_WORKERS, ProgramTest, line, main, wait_until,
                             workers_of)


class Runs(ProgramTest):
    def test_a_summary_to_standard_output_is_all_that_stands_there(self):
        finished = self.run_graph(line(count=100), "--summary", "-")
        self.assertEqual(finished.code, 0, finished.err)
        self.assertEqual(json.loads(finished.out)["samples"], 100)

    def test_quiet_leaves_the_results_and_verbose_adds_the_edges(self):
        results = r"  end: samples 100, [^\n]+\n"
        self.assertRegex(self.run_graph(line(count=100), "--quiet").out, f"^{results}$")
        for options, edges in (([], 0), (["--verbose"], 2)):
            out = self.run_graph(line(count=100), *options).out
            self.assertRegex(out, f"\n{results}$")
            self.assertEqual(out.count("\n  edge "), edges, out)
            self.assertEqual("all samples were delivered" in out, edges == 0, out)

    def test_on_a_terminal_the_summary_stands_below_the_progress(self):
        graph = self.write("graph.yaml", line(count=60, ms=20, replicas=1))
        outer, inner = pty.openpty()
        with subprocess.Popen([brigade_program.PROGRAM, "run", graph], stdin=subprocess.DEVNULL,
                              stdout=inner, stderr=inner, cwd=self.folder) as run:
            os.close(inner)
            shown = b""
            try:
                while part := os.read(outer, 4096):
                    shown += part
            except OSError:  # nobody writes any more
                pass
            os.close(outer)
        self.assertEqual(run.returncode, 0, shown)
        progress, _, summary = shown.decode().partition(": 60 samples, 1 epoch in ")
        self.assertIn("\x1b[Kepoch 1/1  ", progress, "the control")
        self.assertRegex(progress, r"\n\w+$")
        self.assertIn("\n  end: samples 60, ", summary)

    def test_the_summary_says_how_a_run_ended_and_why(self):
        path = self.write("summary.json", "of before")

        def ended(finished, code):
            self.assertEqual(finished.code, code, finished.err)
            self.assertNotEqual(path.read_text(), "of before")
            summary = json.loads(path.read_text())
            if summary["failure"]:
                self.assertIn(f"error: {summary['failure']}\n", finished.err)
            return summary["end"], summary["samples"], summary["failure"]

        def failed(yaml):
            end, samples, failure = ended(self.run_graph(yaml, "--summary", path), 1)
            self.assertEqual((end, samples), ("failed", 0))
            return failure

        for arguments in (("--resume",), ("--set", "epochs=none")):
            refused = self.run_graph(line(), "--summary", path, *arguments)
            self.assertEqual(refused.code, 2, refused.err)
            self.assertEqual(path.read_text(), "of before")
        self.assertIn("fails at sample 0", failed(line().replace("ms: 0.0", "fail_at: [0]")))
        with open(self.folder / "kept.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("is being written by another run", failed("""
stages:
  numbers: {producer: synthetic, params: {count: 8, shape: [1]}}
  kept: {transform: cache, from: numbers, params: {file: kept}}
  end: {consumer: count, from: kept}
"""))
        run = self.start_and_wait_for_workers(ENDLESS, ENDLESS_WORKERS, "--summary", path)
        os.kill(run.pid, 15)
        end, _, failure = ended(run.finish(), 143)
        self.assertEqual((end, failure), ("stopped", None))

    def test_a_graph_that_a_program_feeds_or_reads_says_so(self):
        feeds = ("stages:\n"
                 "  tasks: {producer: application, tensors: {x: {dtype: f32, shape: [3]}}}\n"
                 "  end: {consumer: count, from: tasks}\n")
        reads = ("stages:\n  numbers: {producer: synthetic, batch: 4}\n"
                 "  train: {consumer: application, from: numbers}\n")
        for yaml, said in ((feeds, 'stage "tasks" is fed by a program (`producer: application`): '
                                   "start the graph from that program, or use another "
                                   "producer"),
                           (reads, 'stage "train" is read by a program (`consumer: application`): '
                                   "start the graph from that program, or read it here with "
                                   "`--set stages.train.consumer=count`")):
            finished = self.run_graph(yaml, "--quiet")
            self.assertEqual((finished.code, finished.err), (2, f"brigade: error: {said}\n"))

    def test_the_number_of_descriptors_stays_the_same(self):
        yaml = line(count=100_000, epochs=1000, ms=0.2,
                    restart="{policy: on_failure, backoff: 0ms, burst: 1000}")
        run = self.start_and_wait_for_samples(yaml, ENDLESS_WORKERS, "end")

        def descriptors():
            """But those that are open for a moment."""
            return min(len(os.listdir(f"/proc/{run.pid}/fd")) for _ in range(50))

        def kill(name):
            pid = workers_of(run.pid)[name]
            os.kill(pid, 9)
            wait_until(lambda: workers_of(run.pid).get(name, pid) != pid, "a successor")

        before = descriptors()
        for _ in range(5):
            kill("slow.0")
        wait_until(lambda: descriptors() == before, f"{before} descriptors")
        os.kill(run.pid, 15)
        run.finish()

    def test_workers_hold_only_their_own_descriptors(self):
        run = self.start_and_wait_for_samples(ENDLESS, ENDLESS_WORKERS, "end")
        for name, pid in workers_of(run.pid).items():
            # 0, 1, 2 and the report pipe; the memory is mapped and its descriptors closed.
            self.assertEqual(len(os.listdir(f"/proc/{pid}/fd")), 4, name)
        os.kill(run.pid, 15)
        run.finish()


if __name__ == "__main__":
    main()
