#!/usr/bin/env python3
"""A worker that is killed, whichever and whenever, ends the run with one line and exit code 1; a
supervisor that is killed takes its workers with it."""

import contextlib
import os
import random
import signal
import time

from brigade_program import (ENDLESS, ENDLESS_WORKERS, ProgramTest, alive, children, line, main,
                             wait_until, workers_of)

KILLS = 100
SEED = 20260131


class Kills(ProgramTest):
    def check_killed_run(self, run, name):
        finished = run.finish()
        errors = finished.errors()
        self.assertEqual(finished.code, 1, f"killed {name}\n{finished.err}")
        self.assertEqual(len(errors), 1, f"killed {name}\n{finished.err}")
        stage, replica = name.split(".")
        self.assertIn(f'stage "{stage}" replica {replica} (pid ', errors[0])
        self.assertIn("was killed by SIGKILL", errors[0])

    def kill_one(self, chance):
        """Starts a run and kills one of its workers at a random moment of its first life."""
        run = self.start(ENDLESS)
        if chance.random() < 0.5:  # while workers start
            wait_until(lambda: workers_of(run.pid), "a worker")
        else:
            wait_until(lambda: len(workers_of(run.pid)) == ENDLESS_WORKERS, "all workers")
            time.sleep(chance.uniform(0, 0.2))
        workers = workers_of(run.pid)
        name = chance.choice(sorted(workers))
        os.kill(workers[name], signal.SIGKILL)
        self.check_killed_run(run, name)
        for pid in workers.values():
            self.assertFalse(alive(pid))

    def test_any_worker_at_any_time(self):
        chance = random.Random(SEED)
        for number in range(KILLS):
            with self.subTest(number=number, seed=SEED):
                self.kill_one(chance)

    def test_control_without_a_kill_the_run_succeeds(self):
        finished = self.run_graph(line(count=2000, ms=0.01))
        self.assertEqual(finished.code, 0, finished.err)
        self.assertEqual(finished.errors(), [])

    def test_several_at_once_are_one_line(self):
        run = self.start_and_wait_for_workers(ENDLESS, ENDLESS_WORKERS)
        for pid in workers_of(run.pid).values():
            with contextlib.suppress(ProcessLookupError):  # the first may have ended the others
                os.kill(pid, signal.SIGKILL)
        finished = run.finish()
        self.assertEqual(finished.code, 1)
        self.assertEqual(len(finished.errors()), 1, finished.err)

    def test_a_killed_worker_does_not_leave_the_others(self):
        run = self.start_and_wait_for_workers(ENDLESS, ENDLESS_WORKERS)
        os.kill(workers_of(run.pid)["slow.1"], signal.SIGKILL)
        self.check_killed_run(run, "slow.1")

    def test_other_signals_are_named(self):
        for number, name in ((signal.SIGSEGV, "SIGSEGV"), (signal.SIGTERM, "SIGTERM")):
            run = self.start_and_wait_for_workers(ENDLESS, ENDLESS_WORKERS)
            os.kill(workers_of(run.pid)["end.0"], number)
            finished = run.finish()
            self.assertEqual(finished.code, 1)
            self.assertIn(f"was killed by {name}", finished.errors()[0])


class SupervisorKilled(ProgramTest):
    def test_workers_go_with_it(self):
        run = self.start_and_wait_for_workers(ENDLESS, ENDLESS_WORKERS)
        workers = list(workers_of(run.pid).values())
        os.kill(run.pid, signal.SIGKILL)
        # They go within a tenth of a second; this machine may be busy.
        wait_until(lambda: not any(alive(pid) for pid in workers), "no worker", seconds=5)
        run.finish()

    def test_workers_go_with_it_while_they_start(self):
        chance = random.Random(SEED)
        for _ in range(20):
            run = self.start(ENDLESS)
            time.sleep(chance.uniform(0, 0.05))
            started = children(run.pid)
            os.kill(run.pid, signal.SIGKILL)
            run.finish()  # ends only when nobody holds its output any more
            wait_until(lambda: not any(alive(pid) for pid in started), "no worker", seconds=5)

    def test_workers_that_stand_still_go_too(self):
        run = self.start_and_wait_for_workers(ENDLESS, ENDLESS_WORKERS)
        workers = list(workers_of(run.pid).values())
        for pid in workers:
            os.kill(pid, signal.SIGSTOP)
        os.kill(run.pid, signal.SIGKILL)
        wait_until(lambda: not any(alive(pid) for pid in workers), "no worker", seconds=5)
        run.finish()


if __name__ == "__main__":
    main()
