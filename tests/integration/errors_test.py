#!/usr/bin/env python3
"""What a user meets when a stage, a file or a module goes wrong: one clear line each."""

import re

from brigade_program import ProgramTest, line, main


class Errors(ProgramTest):
    def failed(self, yaml, said, **options):
        """`said`: all that the error's line says after the stage `slow`, its replica and pid."""
        finished = self.run_graph(yaml, "--quiet", **options)
        self.assertEqual(finished.code, 1, finished.out + finished.err)
        self.assertEqual(len(finished.err.splitlines()), 1, finished.err)
        line_said = re.fullmatch(
            r'brigade: error: stage "slow" replica \d \(pid \d+\) (.*)\n', finished.err)
        self.assertIsNotNone(line_said, finished.err)
        self.assertEqual(line_said[1], said)

    def test_a_stage_that_crashes_names_its_sample(self):
        yaml = line(replicas=1, restart="never").replace("ms: 0.0", "crash_at: [500]")
        self.failed(yaml, "was killed by SIGABRT with sample 500 in flight (epoch 0, index 500, id "
                          '500); its last output: "error: delay: aborts at sample 500, as told '
                          '(crash_at)"')

    def test_too_many_failures_stop_the_run(self):
        yaml = line(replicas=1).replace("ms: 0.0", "fail_at: [7, 8, 500]").replace(
            "replicas: 1", "replicas: 1\n    on_error: {skip: 2}")
        self.failed(yaml, "failed: more samples failed than on_error: skip allows (2 different "
                          "samples); the last was sample 500 (id 500 of epoch 0: \"sample 500\"): "
                          "fails at sample "
                          "500, as told (fail_at)")

    def test_a_graph_that_a_program_feeds_or_reads_says_so(self):
        feeds = ("stages:\n"
                 "  tasks: {producer: application, tensors: {x: {dtype: f32, shape: [3]}}}\n"
                 "  end: {consumer: count, from: tasks}\n")
        reads = ("stages:\n  numbers: {producer: synthetic, batch: 4}\n"
                 "  train: {consumer: application, from: numbers}\n")
        for yaml, said in ((feeds, 'stage "tasks" is fed by a program (`producer: application`): '
                                   "start the graph from that program, or put another producer in "
                                   "its place"),
                           (reads, 'stage "train" is a program\'s own (`consumer: application`): '
                                   "start the graph from that program, or read it here with "
                                   "`--set stages.train.consumer=count`")):
            finished = self.run_graph(yaml, "--quiet")
            self.assertEqual((finished.code, finished.err), (2, f"brigade: error: {said}\n"))


if __name__ == "__main__":
    main()
