#!/usr/bin/env python3
"""Several runs that train together: who reads what, and who gets which cores."""

import collections
import json
import os
import pathlib
import re
import subprocess
import unittest

import brigade_program
from brigade_program import ProgramTest, Running, main, wait_until, workers_of

SAMPLES, EPOCHS, BATCH = 10, 3, 3
YAML = f"""
epochs: {EPOCHS}
stages:
  numbers: {{producer: synthetic, params: {{count: {SAMPLES}}}, shuffle: true}}
  end: {{consumer: count, from: {{stage: numbers, batch: {BATCH}}}}}
"""
AUTO = """
stages:
  numbers: {producer: synthetic, params: {count: 3000, fill: random}, shuffle: true}
  work: {transform: delay, from: numbers, replicas: auto, batch: 7}
  more: {transform: passthrough, from: work, replicas: auto}
  end: {consumer: count, from: more}
"""


def ranks(rank, world):
    return {"RANK": str(rank), "WORLD_SIZE": str(world)}


def on_cores(cores, call):
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        return call()
    finally:
        os.sched_setaffinity(0, before)


def allowed(pid):
    """The cores that a process may run on."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    cores = set()
    for part in re.search(r"Cpus_allowed_list:\s*(\S+)", text).group(1).split(","):
        first, _, last = part.partition("-")
        cores.update(range(int(first), int(last or first) + 1))
    return cores


class Ranks(ProgramTest):
    def brigade(self, *arguments, environment=None, code=0):
        environment = {"TMPDIR": str(self.temporary), **(environment or {})}
        self.runs.append(Running(arguments, environment=environment, cwd=self.folder))
        finished = self.runs[-1].finish()
        self.assertEqual(finished.code, code, finished.err)
        return finished

    def ids_of(self, graph, rank, world, samples):
        """Counts of (epoch, id) in what this rank reads."""
        folder = self.folder / f"rank{rank}of{world}"
        self.brigade("sample", graph, "--stage", "numbers", "-n", samples, "--out", folder,
                     environment=ranks(rank, world))
        head, *rows = (folder / "samples.tsv").read_text().splitlines()
        epoch, sample = head.split("\t").index("epoch"), head.split("\t").index("id")
        return collections.Counter(
            (int(row.split("\t")[epoch]), int(row.split("\t")[sample])) for row in rows)

    def counts_at_once(self, graph, world):
        """What the consumers of ranks that run beside each other report."""
        summaries = [self.folder / f"summary{rank}.json" for rank in range(world)]
        runs = [Running(["run", graph, "--quiet", "--summary", summaries[rank]],
                        environment={"TMPDIR": str(self.temporary), **ranks(rank, world)},
                        cwd=self.folder) for rank in range(world)]
        self.runs += runs
        for run in runs:
            finished = run.finish()
            self.assertEqual(finished.code, 0, finished.err)
        return [(end["samples"], end["batches"]) for end in map(self.end_of, summaries)]

    def end_of(self, summary):
        return json.loads(summary.read_text())["results"]["end"]

    def test_all_ranks_read_as_much_and_together_the_epoch(self):
        for world in (2, 3, 4):
            for uneven, each in (("pad", -(-SAMPLES // world)), ("drop", SAMPLES // world)):
                with self.subTest(world=world, uneven=uneven):
                    graph = self.write("graph.yaml", f"shard: {{uneven: {uneven}}}\n{YAML}")
                    batches = -(-each // BATCH)
                    self.assertEqual(self.counts_at_once(graph, world),
                                     [(each * EPOCHS, batches * EPOCHS)] * world)
                    read = sum((self.ids_of(graph, rank, world, each * EPOCHS)
                                for rank in range(world)), collections.Counter())
                    for epoch in range(EPOCHS):
                        times = [read[epoch, sample] for sample in range(SAMPLES)]
                        self.assertEqual(sum(times), each * world)
                        self.assertLessEqual(set(times), {1, 2} if uneven == "pad" else {0, 1})

    def test_runs_of_one_machine_divide_its_cores(self):
        graph = self.write("graph.yaml", AUTO)
        mask = len(os.sched_getaffinity(0))
        local = {"LOCAL_WORLD_SIZE": str(mask)}
        plan = self.brigade("plan", graph, environment=local).out
        self.assertIn(f"  1  available: {mask} in the affinity mask", plan)
        if mask > 1:
            self.assertIn(f"shared by {mask} runs (LOCAL_WORLD_SIZE)", plan)
        self.runs.append(Running(["doctor"], environment=local, cwd=self.folder))
        self.assertRegex(self.runs[-1].finish().out, rf"cores +1  +{mask} in the")

    def cores_of_workers(self, environment):
        endless = YAML.replace(f"epochs: {EPOCHS}", "epochs: 100000").replace(
            "end: {consumer: count", "end: {consumer: count, params: {sleep_ms: 1}")
        run = self.start(endless, environment=environment)
        wait_until(lambda: len(workers_of(run.pid)) == 2 or run.ended(), "two workers")
        cores = {frozenset(allowed(pid)) for pid in workers_of(run.pid).values()}
        self.assertEqual(len(cores), 1)
        run.process.terminate()
        run.finish()
        return set(*cores)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "there is one core")
    def test_replicas_keep_to_the_cores_of_their_run(self):
        local = {"LOCAL_WORLD_SIZE": "2"}
        taken = [self.cores_of_workers({**local, "LOCAL_RANK": str(rank)}) for rank in range(2)]
        self.assertFalse(taken[0] & taken[1], taken)
        self.assertEqual(taken[0] | taken[1], os.sched_getaffinity(0))
        self.assertEqual(self.cores_of_workers(local), os.sched_getaffinity(0),
                         "without a number a run cannot know which cores are its own")

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "there is one core")
    def test_cores_that_the_launcher_has_given_are_not_divided_again(self):
        graph = self.write("graph.yaml", YAML)
        local = {"LOCAL_WORLD_SIZE": "2", "LOCAL_RANK": "1"}
        path = pathlib.Path("/usr/bin/taskset")
        if not path.exists():
            self.skipTest("taskset is not installed")
        plan = subprocess.run([path, "-c", str(max(os.sched_getaffinity(0))),
                               brigade_program.PROGRAM, "plan", graph], text=True, check=True,
                              stdout=subprocess.PIPE, env={**os.environ, **local}).stdout
        self.assertIn("1  available: 1 in the affinity mask that the launcher assigned to this "
                      "run, one of 2 runs (LOCAL_WORLD_SIZE)", plan)

    def test_auto_replicas_follow_the_cores_and_change_nothing_else(self):
        cores = sorted(os.sched_getaffinity(0))
        found = set()
        for count in {1, 2, len(cores)} & set(range(len(cores) + 1)):
            chosen = set(cores[:count])
            end = on_cores(chosen, lambda: self.summary(AUTO))["results"]["end"]
            found.add((end["samples"], end["checksum"]))
            graph = self.folder / "graph.yaml"
            yaml = on_cores(chosen, lambda: self.brigade("plan", graph, "--yaml")).out
            self.assertEqual(re.findall(r"replicas: (\S+)", yaml),
                             ["1", str(max(-(-count // 2), 1)), str(max(count // 2, 1)), "1"])
        self.assertEqual(len(found), 1, found)


if __name__ == "__main__":
    main()
