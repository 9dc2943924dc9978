#!/usr/bin/env python3
"""A sample that takes more memory than there is: the kernel kills its worker, twice, and the sample
goes into quarantine. In a small control group of its own, where groups can be made."""

import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import brigade_program
from brigade_program import ProgramTest, main, wait_until

LIMIT = 192 << 20
SAMPLES = 500
AT = 123


def memory_groups():
    """(folder of this process's memory group, name of the file with its limit), or nothing."""
    mounts = [line.split() for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()]
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        for _, point, kind, options, *_ in mounts:
            if kind == "cgroup" and "memory" in controllers.split(",") and \
                    "memory" in options.split(","):
                return pathlib.Path(point + group), "memory.limit_in_bytes"
            if kind == "cgroup2" and not controllers and \
                    (pathlib.Path(point + group) / "memory.max").exists():
                return pathlib.Path(point + group).parent, "memory.max"
    return None


class SmallGroup:
    """A control group with little memory; raises unittest.SkipTest where none can be made."""

    def __init__(self):
        found = memory_groups()
        if found is None:
            raise unittest.SkipTest("no memory control group here")
        parent, limit = found
        self.folder = parent / f"brigade_test_{os.getpid()}"
        try:
            self.folder.mkdir()
            (self.folder / limit).write_text(str(LIMIT))
        except OSError as error:
            raise unittest.SkipTest(f"no control group can be made: {error}") from error

    def enter(self):
        """In a child, before it executes."""
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def is_removed(self):
        try:
            self.folder.rmdir()
        except OSError:  # its processes are going
            return False
        return True


def graph(mebibytes, restart="{backoff: 0ms}"):
    plugin = brigade_program.PROGRAM.parent.parent / "tests" / "plugins" / "hungry.so"
    return f"""
name: hungry
stages:
  numbers: {{producer: synthetic, params: {{count: {SAMPLES}, shape: [16]}}}}
  hungry:
    transform: hungry
    plugin: {plugin}
    from: numbers
    on_error: {{skip: 5}}
    restart: {restart}
    params: {{at: {AT}, mebibytes: {mebibytes}}}
  end: {{consumer: count, from: hungry}}
"""


class MemoryKills(ProgramTest):
    def setUp(self):
        super().setUp()
        try:
            self.group = SmallGroup()
        except unittest.SkipTest:
            super().tearDown()
            raise
        self.summary_file = self.folder / "summary.json"

    def tearDown(self):
        super().tearDown()
        wait_until(self.group.is_removed, "the end of all processes of the group")

    def run_in_group(self, yaml):
        run = self.start(yaml, "--summary", self.summary_file, prepare=self.group.enter)
        finished = run.finish()
        quarantine = self.folder / "hungry.quarantine.jsonl"
        ids = [json.loads(line)["id"] for line in quarantine.read_text().splitlines()] \
            if quarantine.exists() else []
        return finished, ids

    def test_the_sample_goes_into_quarantine(self):
        finished, ids = self.run_in_group(graph(2 * LIMIT >> 20))
        self.assertEqual(finished.code, 0, finished.err)
        self.assertEqual(ids, [AT])
        self.assertEqual(finished.err.count("SIGKILL (by the kernel: out of memory)"), 2,
                         finished.err)
        self.assertEqual(json.loads(self.summary_file.read_text())["samples"], SAMPLES - 1)

    def test_control_other_kills_are_no_samples_fault(self):
        finished, ids = self.run_in_group(graph(0, restart="{backoff: 0ms, burst: 5}"))
        self.assertEqual(finished.code, 1, finished.err)
        self.assertEqual(ids, [])
        self.assertIn("it was restarted 5 times", finished.errors()[0])

    def test_control_with_enough_memory_nobody_is_killed(self):
        finished, ids = self.run_in_group(graph(8))
        self.assertEqual((finished.code, ids), (0, []), finished.err)


if __name__ == "__main__":
    main()
