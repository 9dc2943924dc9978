#!/usr/bin/env python3
"""What a user meets when a stage, a file or a module goes wrong: one clear line each."""

import re

from brigade_program import ProgramTest, Running, line, main


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
        self.failed(yaml, "was killed by SIGABRT with sample 500 in hand (epoch 0, index 500, id "
                          '500); its last output: "error: delay: aborts at sample 500, as told '
                          '(crash_at)"')

    def test_a_stage_that_fails_names_its_sample(self):
        yaml = line().replace("ms: 0.0", "fail_at: [7]")
        self.failed(yaml, "failed: sample 7 (id 7 of epoch 0: \"sample 7\"): fails at sample 7, "
                          "as told "
                          "(fail_at)")

    def test_failures_may_be_skipped(self):
        yaml = line().replace("ms: 0.0", "fail_at: [7, 8, 500]").replace(
            "replicas: 2", "replicas: 2\n    on_error: {skip: 3}")
        summary = self.summary(yaml)
        self.assertEqual(summary["samples"], 997)
        self.assertEqual(summary["stages"][1]["skipped"], 3)
        self.assertEqual(summary["edges"][0]["dropped"], 3)

    def test_too_many_failures_stop_the_run(self):
        yaml = line(replicas=1).replace("ms: 0.0", "fail_at: [7, 8, 500]").replace(
            "replicas: 1", "replicas: 1\n    on_error: {skip: 2}")
        self.failed(yaml, "failed: more samples failed than on_error: skip allows (2 different "
                          "samples); the last was sample 500 (id 500 of epoch 0: \"sample 500\"): "
                          "fails at sample "
                          "500, as told (fail_at)")

    def test_a_fault_point_ends_the_run(self):
        self.failed(line(replicas=1, restart="never"),
                    "was killed by SIGKILL (by hand, or by the kernel for lack "
                                      "of memory)",
                    environment={"BRIGADE_FAULT": "slow.0=claim.after_cas:2:kill"})

    def test_a_malformed_fault_is_said(self):
        self.failed(line(), "failed: BRIGADE_FAULT: expected STAGE.REPLICA=POINT:N:kill (or stop, "
                            'delay, nap), found "slow.1=somewhere:1:kill"',
                    environment={"BRIGADE_FAULT": "slow.1=somewhere:1:kill"})

    def test_wrong_yaml_is_code_2_and_nothing_starts(self):
        finished = self.run_graph(line().replace("transform: delay", "transform: dleay"))
        self.assertEqual(finished.code, 2)
        self.assertIn('did you mean "delay"?', finished.err)
        self.assertIn("graph.yaml:", finished.err)

    def test_a_missing_file_is_code_2(self):
        finished = Running(["run", self.folder / "nowhere.yaml"]).finish()
        self.assertEqual(finished.code, 2)
        self.assertIn("nowhere.yaml", finished.err)

    def test_a_role_in_the_environment_is_explained(self):
        finished = self.run_graph(line(), environment={"BRIGADE_WORKER": "{}"})
        self.assertEqual(finished.code, 2)
        self.assertIn("unset it", finished.err)


if __name__ == "__main__":
    main()
