#!/usr/bin/env python3
"""Buffers in huge pages (`hugepages: true`): where enough of them are reserved and free a run like
any other, else a refusal that says how many are missing. Nothing here reserves any."""

import json
import os
import pathlib
import signal

from brigade_program import ProgramTest, Running, main, wait_until, workers_of

PAGES = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB")
SAMPLES = 3000


def number(name):
    """Of such pages; 0: this kernel has none."""
    path = PAGES / name
    return int(path.read_text()) if path.exists() else 0


def free_pages():
    return number("free_hugepages") - number("resv_hugepages")


def graph(*, huge=True, more="", size=16):
    """numbers -> slow (two replicas) -> end, of which both edges lie in huge pages."""
    pages = "hugepages: true" if huge else ""
    return f"""
epochs: 2
stages:
  numbers:
    {{producer: synthetic, {pages},
     params: {{count: {SAMPLES}, shape: [{size}], dtype: f32, fill: random}}}}
  slow: {{transform: delay, from: numbers, replicas: 2, params: {{ms: 0}}, batch: 50, {pages}}}
  end: {{consumer: count, from: slow}}
{more}
"""


class HugePages(ProgramTest):
    def test_that_are_missing_are_said_with_how_to_reserve_them(self):
        free, reserved = free_pages(), number("nr_hugepages")
        size = (max(free, 0) + 1) * 1024  # a batch of 50 is more than 100% free ones
        finished = self.run_graph(graph(size=size * 16))
        self.assertEqual(finished.code, 2, finished.err)
        self.assertRegex(
            finished.err.splitlines()[0],
            r'error: stage "numbers": the graph needs [\d,]+ huge pages of 2\.0 MiB '
            rf"\(numbers -> slow \d+, slow -> end \d+\), {free} of {reserved} are free: "
            r"\d+ are missing$")
        missing = int(finished.err.splitlines()[0].split(": ")[-1].split()[0])
        self.assertIn(f"reserve them as root, `sysctl vm.nr_hugepages={reserved + missing}`, or "
                      "omit `hugepages:`", finished.err)

    def test_doctor_counts_them(self):
        finished = Running(["doctor"]).finish()
        self.assertRegex(finished.out,
                         rf"hugepages +{free_pages()} of {number('nr_hugepages')} free, of 2 MiB")


class Runs(ProgramTest):
    def setUp(self):
        super().setUp()
        if free_pages() < 8:
            self.skipTest(f"{free_pages()} huge pages of 2 MiB are free here, a run needs 8 "
                          "(`sysctl vm.nr_hugepages=8`)")
        self.free = free_pages()
        self.wanted = self.summary(graph(huge=False))["results"]["end"]

    def tearDown(self):
        wait_until(lambda: free_pages() == self.free, "all pages are given back")
        super().tearDown()

    def test_give_what_usual_pages_give(self):
        self.assertEqual(self.summary(graph())["results"]["end"], self.wanted)
        poisoned = self.summary(graph(), environment={"BRIGADE_POISON": "1"})
        self.assertEqual(poisoned["results"]["end"], self.wanted)
        self.assertEqual(self.summary(graph(), "--in-process")["results"]["end"], self.wanted)

    def test_are_what_the_plan_says(self):
        path = self.folder / "graph.yaml"
        path.write_text(graph())
        finished = Running(["plan", path]).finish()
        self.assertEqual(finished.code, 0, finished.err)
        self.assertIn("reserved huge pages (", finished.out)
        plan = json.loads(Running(["plan", path, "--json"]).finish().out)
        run = self.start_and_wait_for_samples(graph().replace("epochs: 2", "epochs: 2000"), 4,
                                                "end")
        taken = self.free - free_pages()
        os.kill(run.pid, signal.SIGINT)
        run.finish()
        self.assertEqual(taken, sum(stage["ring"]["bytes"] >> 21 for stage in plan["stages"]
                                    if stage["ring"]["huge"]))
        self.assertEqual(taken, 2)

    def test_outlive_their_writer(self):
        yaml = graph().replace("ms: 0", "ms: 0.2").replace("epochs: 2", "epochs: 6")
        wanted = self.summary(yaml.replace("hugepages: true", "hugepages: false"))["results"]["end"]
        path = self.folder / "killed.json"
        run = self.start_and_wait_for_samples(yaml, 4, "end", "--summary", path)
        os.kill(workers_of(run.pid)["slow.1"], signal.SIGKILL)
        finished = run.finish()
        self.assertEqual(finished.code, 0, finished.err)
        self.assertEqual(json.loads(path.read_text())["results"]["end"], wanted)


if __name__ == "__main__":
    main()
