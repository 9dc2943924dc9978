#!/usr/bin/env python3
"""Without restarts, a worker that is killed, whichever and whenever, ends the run with one line and
exit code 1; a supervisor that is killed takes its workers with it."""

import contextlib
import os
import pathlib
import random
import re
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from brigade_program import (ENDLESS, ENDLESS_WORKERS, ProgramTest, alive, children, leftovers,
                             line, main, sanitizer, wait_until, workers_of)

KILLS = 100  # a fifth under the sanitizers
SEED = 20260131


class Kills(ProgramTest):
    def check_killed_run(self, run, name, pid):
        """The whole line; returns what it says about the in-flight sample."""
        finished = run.finish()
        errors = finished.errors()
        self.assertEqual(finished.code, 1, f"killed {name}\n{finished.err}")
        self.assertEqual(len(errors), 1, f"killed {name}\n{finished.err}")
        stage, replica = name.split(".")
        said = re.fullmatch(
            rf'brigade: error: stage "{stage}" replica {replica} \(pid {pid}\) was killed by '
            r"SIGKILL \(manually, or by the kernel: out of memory\)"
            r"(?: with (sample \d+ in flight(?: \(epoch \d+, index \d+, id \d+\))?))?", errors[0])
        self.assertIsNotNone(said, errors[0])
        return said[1]

    def kill_one(self, chance, yaml, count):
        """Starts a run and kills one of its workers at a random moment of its first life."""
        run = self.start(yaml)
        if chance.random() < 0.5:  # while workers start
            wait_until(lambda: workers_of(run.pid), "a worker")
        else:
            wait_until(lambda: len(workers_of(run.pid)) == count and
                       self.is_at_work(run), "all at work")
            time.sleep(chance.uniform(0, 0.05))
        workers = workers_of(run.pid)
        name = chance.choice(sorted(workers))
        os.kill(workers[name], signal.SIGKILL)
        sample = self.check_killed_run(run, name, workers[name])
        for pid in workers.values():
            self.assertFalse(alive(pid))
        self.assertEqual(leftovers() - self.before, set())
        return sample

    def test_any_worker_at_any_time(self):
        chance = random.Random(SEED)
        samples = []
        kills = KILLS // 5 if sanitizer() else KILLS
        for number in range(kills):
            with self.subTest(number=number, seed=SEED):
                samples.append(self.kill_one(chance, ENDLESS, ENDLESS_WORKERS))
        self.assertEqual(len(samples), kills)
        self.assertFalse(all(samples), "even those who just started had an in-flight sample")
        self.assertTrue(any(samples), "nobody had an in-flight sample")

    def test_control_without_a_kill_the_run_succeeds(self):
        finished = self.run_graph(line(count=2000, ms=0.01))
        self.assertEqual(finished.code, 0, finished.err)
        self.assertEqual(finished.errors(), [])

    def test_the_sample_in_hand_is_named(self):
        run = self.start_and_wait_for_workers(line(count=100_000, ms=600_000, replicas=1,
                                                   restart="never"),
                                              3)
        pid = workers_of(run.pid)["slow.0"]
        wait_until(lambda: re.search(r"(?m)^slow\.0 .*works", self.leases(run)), "its sample")
        os.kill(pid, signal.SIGKILL)
        self.assertEqual(self.check_killed_run(run, "slow.0", pid),
                         "sample 0 in flight (epoch 0, index 0, id 0)")

    def test_several_at_once_are_one_line(self):
        run = self.start_and_wait_for_workers(ENDLESS, ENDLESS_WORKERS)
        for pid in workers_of(run.pid).values():
            with contextlib.suppress(ProcessLookupError):  # the first may have ended the others
                os.kill(pid, signal.SIGKILL)
        finished = run.finish()
        self.assertEqual(finished.code, 1)
        self.assertEqual(len(finished.errors()), 1, finished.err)


class SupervisorKilled(ProgramTest):
    def test_workers_go_with_it(self):
        run = self.start_and_wait_for_workers(ENDLESS, ENDLESS_WORKERS)
        workers = list(workers_of(run.pid).values())
        os.kill(run.pid, signal.SIGKILL)
        wait_until(lambda: not any(alive(pid) for pid in workers), "no worker")
        run.finish()

    def test_workers_go_with_it_while_they_start(self):
        chance = random.Random(SEED)
        for _ in range(20):
            run = self.start(ENDLESS)
            time.sleep(chance.uniform(0, 0.05))
            started = children(run.pid)
            os.kill(run.pid, signal.SIGKILL)
            run.finish()  # ends only when nobody holds its output any more
            wait_until(lambda: not any(alive(pid) for pid in started), "no worker")

    def test_workers_that_stand_still_go_too(self):
        run = self.start_and_wait_for_workers(ENDLESS, ENDLESS_WORKERS)
        workers = list(workers_of(run.pid).values())
        for pid in workers:
            os.kill(pid, signal.SIGSTOP)
        os.kill(run.pid, signal.SIGKILL)
        wait_until(lambda: not any(alive(pid) for pid in workers), "no worker")
        run.finish()


if __name__ == "__main__":
    main()
