#!/usr/bin/env python3
"""Workers die while the run goes on: nothing is lost, nothing comes twice, nothing stays behind."""

import contextlib
import json
import os
import pathlib
import random
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from brigade_program import (ProgramTest, alive, leftovers, line, main, wait_until, workers_of)

SEED = 20260131
OFTEN = "{policy: on_failure, backoff: 0ms, burst: 1000000}"


def crashing(params, more="", replicas=2, producer=""):
    """numbers, shuffled -> slow, with a `delay` that has these parameters -> end."""
    return f"""
name: crashing
epochs: 2
stages:
  numbers: {{producer: synthetic, shuffle: true, params: {{count: 2000, shape: [16]}}{producer}}}
  slow:
    transform: delay
    from: numbers
    replicas: {replicas}
    params: {params}
    {more}
  end: {{consumer: count, from: slow}}
"""


class Restarts(ProgramTest):
    def setUp(self):
        super().setUp()
        self.chance = random.Random(SEED)

    def results(self, yaml, **options):
        """(finished run, its summary)"""
        summary = self.folder / "summary.json"
        finished = self.run_graph(yaml, "--summary", str(summary), **options)
        self.assertEqual(leftovers() - self.before, set())
        return finished, json.loads(summary.read_text())

    def assert_whole(self, summary, expected):
        """The same samples with the same contents in the same order, and a clean audit."""
        self.assertEqual(summary["results"]["end"], expected["results"]["end"])
        for edge in summary["edges"]:
            self.assertEqual(edge["produced"], edge["delivered"], edge)
            self.assertEqual((edge["dropped"], edge["quarantined"], edge["leaked"]), (0, 0, 0))

    def test_a_worker_that_crashes_once_is_not_seen_in_the_result(self):
        _, expected = self.results(crashing("{}"))
        finished, summary = self.results(crashing("{crash_once_at: [77, 1500, 3]}"))
        self.assertEqual(finished.code, 0, finished.err)
        self.assert_whole(summary, expected)
        restarts = {stage["name"]: stage["restarts"] for stage in summary["stages"]}
        self.assertEqual(restarts, {"numbers": 0, "slow": 3, "end": 0})
        self.assertEqual(finished.err.count("was killed by SIGABRT with sample"), 3)

    def kill_while_it_runs(self, yaml, roles, kills):
        """Kills workers of these stages one after the other, as many as it has time for; the
        finished run, its summary and how many."""
        summary = self.folder / "summary.json"
        run = self.start(yaml, "--summary", str(summary))
        done = 0
        while done < kills and not run.ended():
            workers = [pid for name, pid in workers_of(run.pid).items()
                       if name.split(".")[0] in roles]
            if not workers:
                continue
            pid = self.chance.choice(workers)
            with contextlib.suppress(ProcessLookupError):  # its work was done
                os.kill(pid, signal.SIGKILL)
                done += 1
            wait_until(lambda gone=pid: not alive(gone), "the end of a worker")
            time.sleep(self.chance.uniform(0, 0.02))
        finished = run.finish()
        self.assertEqual(leftovers() - self.before, set())
        return finished, json.loads(summary.read_text()), done

    def test_fifty_kills_are_not_seen_in_the_result(self):
        yaml = line(count=20_000, ms=0.2, epochs=2, restart=OFTEN)
        _, expected = self.results(line(count=20_000, epochs=2))
        kills = restarts = 0
        while kills < 50:  # a run may end before its last one
            finished, summary, done = self.kill_while_it_runs(yaml, {"numbers", "slow"}, 50 - kills)
            self.assertEqual(finished.code, 0, finished.err)
            self.assert_whole(summary, expected)
            kills += done
            restarts += sum(stage["restarts"] for stage in summary["stages"])
        self.assertGreater(restarts, 25)  # nobody takes the place of one whose work was done

    def test_the_burst_ends_the_run(self):
        yaml = line(count=1_000_000, ms=0.2, restart="{policy: on_failure, burst: 3, backoff: 1ms}")
        finished, _, _ = self.kill_while_it_runs(yaml, {"numbers"}, 4)
        self.assertEqual(finished.code, 1)
        self.assertIn("it was restarted 3 times within 30.0 s (`restart:`)",
                      finished.errors()[0])

    def test_degraded_the_others_carry_on(self):
        _, expected = self.results(line(count=5_000))
        yaml = line(count=5_000, ms=0.5, replicas=3, restart="{policy: never, then: degrade}")
        finished, summary = self.results(
            yaml, environment={"BRIGADE_FAULT": "slow.1=claim.after_cas:1:kill"})
        self.assertEqual(finished.code, 0, finished.err)
        self.assertIn("the other replicas continue", finished.err)
        self.assert_whole(summary, expected)

    def test_a_stream_ends_without_the_replica_that_is_gone(self):
        lines = self.write("lines.txt", "".join(f"{number}\n" for number in range(20_000)))
        yaml = f"""
stages:
  lines: {{producer: lines, params: {{file: {lines}}}, replicas: 2,
          restart: {{policy: never, then: degrade}}}}
  slow: {{transform: delay, from: lines}}
  end: {{consumer: count, from: slow}}
"""
        for name in ("lines.0", "lines.1"):
            samples = self.summary(
                yaml, environment={"BRIGADE_FAULT": f"{name}=work.start:9:kill"})["samples"]
            self.assertGreaterEqual(samples, 10_000)  # all that the other one has
            self.assertLess(samples, 20_000)

if __name__ == "__main__":
    main()
