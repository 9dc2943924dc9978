#!/usr/bin/env python3
"""Nobody reads what a run says (Ctrl-S, a paused `less`, a log on a disk that does not answer): it
goes on, ends as it should, and says how many lines it had to drop."""

import contextlib
import json
import os
import pty
import random
import select
import signal
import subprocess
import time

import brigade_program
from brigade_program import ENDLESS, SECONDS_MAX, ProgramTest, line, main, wait_until, workers_of

SEED = 20260131
OFTEN = "{policy: on_failure, backoff: 0ms, burst: 1000000}"


class Unread(ProgramTest):
    """The terminal, for standard output and error, and the log are full before the run starts."""

    def setUp(self):
        super().setUp()
        self.outer, self.inner = pty.openpty()
        self.fill(self.inner)
        os.mkfifo(self.folder / "log")
        self.log = os.open(self.folder / "log", os.O_RDWR | os.O_NONBLOCK)
        self.fill(self.log)

    def tearDown(self):
        for descriptor in (self.outer, self.inner, self.log):
            os.close(descriptor)
        super().tearDown()

    @staticmethod
    def fill(descriptor):
        os.set_blocking(descriptor, False)
        # The kernel passes on what was written a little later, and there is room again.
        while select.select([], [descriptor], [], 0.2)[1]:
            for size in (1000, 1):
                with contextlib.suppress(BlockingIOError):
                    os.write(descriptor, b"." * size)
        os.set_blocking(descriptor, True)

    def start_unread(self, yaml, *arguments):
        graph = self.write("graph.yaml", yaml)
        run = subprocess.Popen(
            [str(brigade_program.PROGRAM), "run", str(graph), "--log", "log", "--summary",
             "summary.json", *arguments],
            stdin=subprocess.DEVNULL, stdout=self.inner, stderr=self.inner, cwd=self.folder,
            env={**os.environ, "TMPDIR": str(self.temporary)},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        return run

    def summary(self):
        return json.loads((self.folder / "summary.json").read_text())

    def kill_workers(self, run, kills):
        chance = random.Random(SEED)
        for _ in range(kills):
            victims = []

            def look():
                victims[:] = [pid for name, pid in workers_of(run.pid).items()
                              if name.split(".")[0] in ("numbers", "slow")]
                return victims or run.poll() is not None
            wait_until(look, "a worker")
            self.assertIsNone(run.poll(), "the run ended early")
            os.kill(chance.choice(victims), signal.SIGKILL)
            time.sleep(chance.uniform(0, 0.02))

    def test_fifty_deaths_are_repaired_and_the_run_ends(self):
        run = self.start_unread(line(count=20_000, ms=0.2, epochs=2, restart=OFTEN))
        self.kill_workers(run, 50)
        self.assertEqual(run.wait(SECONDS_MAX), 0)
        summary = self.summary()
        self.assertEqual(summary["samples"], 40_000)
        self.assertGreater(sum(stage["restarts"] for stage in summary["stages"]), 25)
        for edge in summary["edges"]:
            self.assertEqual((edge["produced"], edge["leaked"]), (edge["delivered"], 0), edge)

    def test_a_stop_is_heard(self):
        run = self.start_unread(ENDLESS)
        wait_until(lambda: len(workers_of(run.pid)) == 4, "4 workers")
        time.sleep(0.3)
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(SECONDS_MAX), 130)
        self.assertEqual({edge["leaked"] for edge in self.summary()["edges"]}, {0})

    def test_what_is_read_late_is_still_there(self):
        run = self.start_unread(line(count=20_000, ms=0.2, restart=OFTEN))
        self.kill_workers(run, 5)
        text = b""
        while select.select([self.outer], [], [], 0.2)[0] or run.poll() is None:
            if select.select([self.outer], [], [], 0.2)[0]:
                text += os.read(self.outer, 4096)
        self.assertEqual(run.returncode, 0)
        self.assertEqual(text.count(b"was killed by SIGKILL"), 5)
        self.assertIn(b"leaked 0", text)


if __name__ == "__main__":
    main()
