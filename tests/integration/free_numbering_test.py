#!/usr/bin/env python3
"""Stages that number their outputs anew, killed at every step: nothing is lost or repeated."""

import itertools
import json

from brigade_program import ProgramTest, main, sanitizer

OFTEN = "{policy: on_failure, backoff: 0ms, burst: 1000000}"

# Where a replica of such a stage passes; its first incarnation is killed at each of these passages.
POINTS = ("claim.start", "claim.after_cas", "work.start", "finish.start", "finish.after_tally",
          "finish.after_done", "journal.before_commit", "journal.after_commit", "wait.before_bit",
          "wait.after_bit", "wait.before_sleep", "wait.before_clear", "wake.before_load",
          "wake.before_bell", "wake.after_bell")
PASSAGES = (1, 2, 40, 173)
# Passed so rarely in a short run that a kill is not certain.
RARE = ("wait.", "wake.")

REPACK = f"""
epochs: 2
stages:
  numbers: {{producer: synthetic, shuffle: true, params: {{count: 200, shape: [3]}}}}
  checked:
    transform: delay
    from: numbers
    params: {{fail_at: [3, 5, 8, 13, 21, 34, 55, 89, 144]}}
    on_error: {{skip: 20}}
  full: {{transform: repack, from: checked, restart: {OFTEN}}}
  end: {{consumer: count, from: {{stage: full, batch: 7}}}}
"""

MERGE = f"""
epochs: 2
stages:
  few: {{producer: synthetic, params: {{count: 50, shape: [3]}}}}
  many: {{producer: synthetic, shuffle: true, params: {{count: 150, shape: [3]}}}}
  full: {{transform: merge, from: [few, many], join: merge, restart: {OFTEN}}}
  end: {{consumer: count, from: {{stage: full, batch: 7}}}}
"""

STREAM = f"""
epochs: 2
stages:
  lines: {{producer: lines, params: {{file: FILE}}, restart: {OFTEN}}}
  end: {{consumer: count, from: {{stage: lines, batch: 7}}}}
"""


class KilledAtEveryStep(ProgramTest):
    def summary_of(self, yaml, fault=None):
        path = self.folder / "summary.json"
        environment = {"BRIGADE_FAULT": fault} if fault else {}
        finished = self.run_graph(yaml, "--summary", str(path), environment=environment)
        self.assertEqual(finished.code, 0, f"{fault}\n{finished.err}")
        return json.loads(path.read_text())

    def check_books(self, summary):
        for edge in summary["edges"]:
            self.assertEqual(edge["produced"], edge["delivered"] + edge["dropped"], edge)
            self.assertEqual((edge["quarantined"], edge["leaked"]), (0, 0), edge)

    def kill_everywhere(self, yaml, stage, same):
        expected = self.summary_of(yaml)
        passages = PASSAGES[2:3] if sanitizer() else PASSAGES
        for point, passage in itertools.product(POINTS, passages):
            with self.subTest(f"{point}:{passage}"):
                found = self.summary_of(yaml, f"{stage}.0={point}:{passage}:kill")
                self.check_books(found)
                for name in same:
                    self.assertEqual(found["results"]["end"][name],
                                     expected["results"]["end"][name], name)
                restarts = {one["name"]: one["restarts"] for one in found["stages"]}
                if not point.startswith(RARE):
                    self.assertEqual(restarts[stage], 1)

    def test_a_repack_gives_the_same_samples_in_the_same_batches(self):
        self.kill_everywhere(REPACK, "full", ("samples", "batches", "checksum"))

    def test_a_merge_gives_every_sample_once(self):
        self.kill_everywhere(MERGE, "full", ("samples", "batches"))

    def test_a_file_of_lines_that_several_read_is_gone_on_with(self):
        text = self.write("lines.txt", "".join(f"line {i}\n" for i in range(500)))
        yaml = STREAM.replace("FILE", str(text)).replace("epochs: 2", "epochs: 1").replace(
            "restart:", "replicas: 3, restart:")
        for point, passage in itertools.product(("claim.start", "claim.after_cas", "finish.start",
                                                 "finish.after_tally", "finish.after_done",
                                                 "advance.before_cas"), (1, 2)):
            with self.subTest(f"{point}:{passage}"):
                found = self.summary_of(yaml, f"lines.1={point}:{passage}:kill")
                self.check_books(found)
                self.assertEqual(found["results"]["end"]["samples"], 500)

    def test_a_file_of_lines_is_gone_on_with(self):
        text = self.write("lines.txt", "".join(f"line {i}\n" for i in range(500)))
        yaml = STREAM.replace("FILE", str(text))
        expected = self.summary_of(yaml)
        for point, passage in itertools.product(("claim.start", "finish.start",
                                                 "finish.after_done"), (1, 3, 20)):
            with self.subTest(f"{point}:{passage}"):
                found = self.summary_of(yaml, f"lines.0={point}:{passage}:kill")
                self.check_books(found)
                self.assertEqual(found["results"]["end"], expected["results"]["end"])


if __name__ == "__main__":
    main()
