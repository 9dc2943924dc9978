#!/usr/bin/env python3
"""Caches, and stages that make several samples of each: the same as without, whoever is killed."""

import itertools
import json
import os
import signal

from brigade_program import ProgramTest, main, sanitizer, wait_until

OFTEN = "{policy: on_failure, backoff: 0ms, burst: 1000000}"
POINTS = ("claim.start", "claim.before_cas", "claim.after_cas", "work.start", "finish.start",
          "finish.after_tally", "finish.after_done", "advance.before_cas", "advance.after_cas")
PASSAGES = (1, 3, 7)


def graph(middle, epochs=3, source="shuffle: true,"):
    """numbers -> work, which draws nothing -> `middle`, called m -> end, by another transform."""
    return f"""
seed: 5
epochs: {epochs}
stages:
  numbers:
    {{producer: synthetic, {source}
     params: {{count: 330, shape: [9], vary: true, fill: random}}}}
  work: {{transform: delay, from: numbers, chunk: 10, replicas: 2, params: {{ms: 0.02}}}}
{middle}
  below: {{transform: passthrough, from: m}}
  end: {{consumer: count, from: {{stage: below, batch: 20}}}}
"""


def cache(replicas=1, shuffle="true"):
    return (f"  m: {{transform: cache, from: work, chunk: 10, shuffle: {shuffle},"
            f" replicas: {replicas}, restart: {OFTEN}}}")


def cache_in_a_file(replicas=1):
    return cache(replicas)[:-1] + ", params: {file: kept.cache}}"


def repeat(replicas=1):
    return (f"  m: {{transform: repeat, from: work, chunk: 10, replicas: {replicas},"
            f" params: {{times: 3}}, restart: {OFTEN}}}")


PLAIN = "  m: {transform: passthrough, from: work}"


class Renumbered(ProgramTest):
    def end_of(self, yaml, *arguments, **options):
        """What `end` has counted; the audit must be whole."""
        summary = self.summary(yaml, *arguments, **options)
        for edge in summary["edges"]:
            self.assertEqual(edge["produced"], edge["delivered"] + edge["dropped"], edge)
            self.assertEqual((edge["quarantined"], edge["leaked"]), (0, 0), edge)
        return summary["results"]["end"]

    def kill_everywhere(self, yaml):
        expected = self.end_of(yaml)
        passages = PASSAGES[1:2] if sanitizer() else PASSAGES
        for point, passage in itertools.product(POINTS, passages):
            with self.subTest(f"{point}:{passage}"):
                for file in self.folder.glob("*.cache"):
                    file.unlink()
                fault = {"BRIGADE_FAULT": f"m.0={point}:{passage}:kill"}
                self.assertEqual(self.end_of(yaml, environment=fault), expected)

    def test_each_rank_keeps_its_own_part(self):
        ends = []
        for rank in range(2):
            ranks = {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1"}
            without = self.end_of(graph(PLAIN, source=""), environment=ranks)
            kept = self.end_of(graph(cache(2, "false"), source=""), environment=ranks)
            self.assertEqual(kept, without)
            ends.append(kept)
        self.assertNotEqual(ends[0]["set_checksum"], ends[1]["set_checksum"])

    def test_a_sample_that_fails_below_is_named_by_its_source(self):
        twice = cache().replace("  m:", "  c:").replace("from: work", "from: r")
        for middle, sample in (
                (repeat(), "sample 2"), (cache(), "sample 7"),
                (repeat().replace("  m:", "  r:") + "\n" + twice + """
  m: {transform: repeat, from: c, params: {times: 2}}""", "sample 1")):
            yaml = graph(middle, source="").replace("{transform: passthrough, from: m}",
                                                    "{transform: delay, from: m, "
                                                    "params: {fail_at: [7]}}")
            finished = self.run_graph(yaml)
            self.assertEqual(finished.code, 1)
            self.assertIn(f'(id 7 of epoch 0: "{sample}"): fails at sample 7', finished.err)

    def test_a_sample_that_ends_its_worker_is_skipped_in_every_epoch(self):
        path = self.folder / "summary.json"
        finished = self.run_graph(f"""
epochs: 3
stages:
  numbers: {{producer: synthetic, shuffle: true, params: {{count: 50}}}}
  kept: {{transform: cache, from: numbers, shuffle: true}}
  twice: {{transform: repeat, from: kept, params: {{times: 2}}}}
  bad:
    {{transform: delay, from: twice, restart: {OFTEN}, on_error: {{skip: 5}},
     params: {{crash_at: [7]}}}}
  end: {{consumer: count, from: bad}}
""", "--summary", path, cwd=self.folder)
        self.assertEqual(finished.code, 0, finished.err)
        self.assertIn('(id 7 of epoch 0: "sample 3")', finished.err)
        edges = {edge["to"]: edge for edge in json.loads(path.read_text())["edges"]}
        self.assertEqual((edges["kept"]["delivered"], edges["twice"]["delivered"]), (50, 150))
        self.assertEqual(edges["bad"]["produced"], 300)
        self.assertEqual((edges["bad"]["delivered"], edges["bad"]["quarantined"]), (297, 3))
        self.assertEqual(edges["end"]["delivered"], 297)

    def test_what_is_above_a_cache_runs_once(self):
        summary = self.summary(graph(cache(2)))
        samples = {stage["name"]: stage["samples"] for stage in summary["stages"]}
        self.assertEqual(samples, {"numbers": 330, "work": 330, "m": 990, "below": 990, "end": 990})

    def test_a_cache_in_a_file_survives_kills_at_every_step(self):
        expected = self.end_of(graph(cache(2)))
        for replicas in (2, 1):
            yaml = graph(cache_in_a_file(replicas))
            self.kill_everywhere(yaml)
            # What the last of these runs has kept is whole, too.
            summary = self.summary(yaml)
            self.assertNotIn("numbers", [stage["name"] for stage in summary["stages"]])
            self.assertEqual(summary["results"]["end"], expected)
            (self.folder / "kept.cache").unlink()

    def test_a_stop_drains_through_a_cache_that_is_being_filled(self):
        for middle in (cache(2), repeat(2)):
            path = self.folder / "stopped.json"
            slow = graph(middle, epochs=100000).replace("ms: 0.02", "ms: 10")
            run = self.start(slow, "--summary", path)
            wait_until(lambda run=run: self.has_consumed(run, "end"), "samples")
            os.kill(run.pid, signal.SIGINT)
            finished = run.finish()
            self.assertEqual(finished.code, 130, finished.err)
            self.assertEqual(finished.errors(), [])
            for edge in json.loads(path.read_text())["edges"]:
                self.assertEqual(edge["leaked"], 0, edge)

if __name__ == "__main__":
    main()
