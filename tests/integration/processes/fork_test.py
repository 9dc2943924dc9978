#!/usr/bin/env python3
"""A stage that forks and dies: its child writes into no row, and does not outlive its worker."""

import contextlib
import os
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import brigade_program
from brigade_program import ProgramTest, alive, main, wait_until, workers_of

ESCAPES = ("leaves_group", "clears_signal")


def graph(folder, *switches, dies=True, count=5_000, ms=0.02):
    """numbers -> forks (2 replicas) -> slow -> end. `switches`: what is true of the child."""
    plugin = brigade_program.PROGRAM.parent.parent / "tests" / "plugins" / "forks.so"
    params = {"at": 100, "folder": folder, "dies": str(dies).lower(),
              **{switch: "true" for switch in switches}}
    params = ", ".join(f"{name}: {value}" for name, value in params.items())
    return f"""
stages:
  numbers: {{producer: synthetic, params: {{count: {count}, shape: [64], dtype: i64}}}}
  forks:
    transform: forks
    plugin: {plugin}
    from: numbers
    replicas: 2
    chunk: 1
    params: {{{params}}}
  slow: {{transform: delay, from: forks, chunk: 1, params: {{ms: {ms}}}}}
  end: {{consumer: count, from: slow}}
"""


class Forks(ProgramTest):
    def child(self):
        path = self.folder / "child"
        wait_until(lambda: path.exists() and path.read_text(), "a child")
        return int(path.read_text())

    def run_of(self, *switches):
        """(set checksum of what arrived, restarts of the stage, its child)"""
        with contextlib.suppress(FileNotFoundError):
            (self.folder / "child").unlink()
        summary = self.summary(graph(self.folder, *switches))
        restarts = {stage["name"]: stage["restarts"] for stage in summary["stages"]}
        return summary["results"]["end"]["set_checksum"], restarts["forks"], self.child()

    def whole(self):
        (self.folder / "child").write_text("0")  # then nobody forks
        return self.summary(graph(self.folder))["results"]["end"]["set_checksum"]

    def test_nothing_is_torn_and_nobody_is_left(self):
        checksum, restarts, child = self.run_of()
        self.assertEqual((checksum, restarts), (self.whole(), 1))
        wait_until(lambda: not alive(child), "the child's end")

    def test_a_child_that_outlives_its_worker_has_no_rows(self):
        checksum, restarts, _ = self.run_of(*ESCAPES)
        self.assertEqual((checksum, restarts), (self.whole(), 1))

    def test_control_a_child_that_has_them_tears_rows(self):
        checksum, restarts, child = self.run_of("keeps_memory", *ESCAPES)
        os.kill(child, signal.SIGKILL)
        self.assertNotEqual(checksum, self.whole())
        self.assertEqual(restarts, 1)

    def test_either_way_alone_ends_the_child(self):
        for switch in ESCAPES:
            with self.subTest(switch=switch):
                _, _, child = self.run_of("keeps_memory", switch)
                wait_until(lambda: not alive(child), "the child's end")

    def test_control_a_child_that_escapes_both_is_left(self):
        _, _, child = self.run_of("keeps_memory", *ESCAPES)
        self.assertTrue(alive(child))
        os.kill(child, signal.SIGKILL)

    def kill_supervisor(self, *switches):
        run = self.start(graph(self.folder, "keeps_memory", *switches, dies=False,
                               count=1_000_000, ms=0.2))
        child = self.child()
        self.assertTrue(alive(child))
        workers = list(workers_of(run.pid).values())
        os.kill(run.pid, signal.SIGKILL)
        wait_until(lambda: not any(alive(pid) for pid in workers), "no worker")
        return child

    def test_it_goes_with_the_supervisor_too(self):
        for switches in ([], ["leaves_group"]):
            child = self.kill_supervisor(*switches)
            wait_until(lambda: not alive(child), "the child's end")
            (self.folder / "child").unlink()

    def test_control_without_its_death_signal_it_is_left(self):
        child = self.kill_supervisor("clears_signal")
        self.assertTrue(alive(child))
        os.kill(child, signal.SIGKILL)

    def test_the_terminal_does_not_stop_a_worker(self):
        run = self.start_and_wait_for_workers(brigade_program.ENDLESS,
                                              brigade_program.ENDLESS_WORKERS)

        def ignored(pid):
            with open(f"/proc/{pid}/status") as status:
                mask = next(line for line in status if line.startswith("SigIgn:"))
            return all(int(mask.split()[1], 16) >> (number - 1) & 1
                       for number in (signal.SIGTTIN, signal.SIGTTOU))

        for name, pid in workers_of(run.pid).items():
            self.assertEqual(os.getpgid(pid), pid, name)  # Ctrl-C does not reach it
            wait_until(lambda pid=pid: ignored(pid), "a worker in the background")
        self.assertFalse(ignored(run.pid))
        for _ in range(2):  # the second one ends it at once
            os.kill(run.pid, signal.SIGTERM)
        self.assertEqual(run.finish().code, 143)


if __name__ == "__main__":
    main()
