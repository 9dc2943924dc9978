#!/usr/bin/env python3
"""Runs that go on: after a stop, after the whole run was killed, after a consumer that saves was
killed. Together they are the run that nobody disturbed, bit by bit; and what does not fit is
refused with the difference."""

import json
import os
import random
import re
import signal
import time

import brigade_program
import images_test
import training_test
from brigade_program import ProgramTest, main, workers_of

SEED = 20261122
SAMPLES = 6000
EPOCHS = 3
STEPS = 200  # of training: more than the rings hold

GRAPH = f"""
seed: 7
epochs: {EPOCHS}
checkpoint: {{file: CHECKPOINT, every: 500}}
stages:
  numbers:
    producer: synthetic
    shuffle: true
    params: {{count: {SAMPLES}, shape: [16], fill: random}}
  work: {{transform: delay, from: numbers, replicas: 2}}
  end:
    consumer: count
    from: {{stage: work, batch: 50}}
    params: {{sleep_ms: 1}}
    RESTART
"""

FOREVER = "restart: {policy: on_failure, burst: 1000, backoff: 0s}"


class ResumeTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.checkpoint = self.folder / "line.ckpt"
        self.position = self.folder / "line.ckpt.position"
        self.summary = self.folder / "summary.json"
        self.graph = GRAPH.replace("CHECKPOINT", str(self.checkpoint)).replace("RESTART", FOREVER)

    def results(self):
        return json.loads(self.summary.read_text())["results"]["end"]

    def go(self, *options, code=0):
        finished = self.run_graph(self.graph, "--quiet", "--summary", self.summary, *options)
        self.assertEqual(finished.code, code, finished.err)
        return finished

    def undisturbed(self):
        """What the whole run reports."""
        self.go()
        expected = self.results()
        self.assertEqual(expected["samples"], EPOCHS * SAMPLES)
        for path in self.folder.glob("line.ckpt*"):
            path.unlink()
        return expected

    def index(self):
        """Where the last position is, in samples of all epochs."""
        lane = json.loads(self.position.read_text())["entries"][0]["lanes"][0]
        return lane["epoch"] * SAMPLES + lane["index"]

    def wait_for_progress(self, run, since=0):
        brigade_program.wait_until(
            lambda: (self.position.exists() and self.index() > since) or run.ended(), "progress")


class TheSameBits(ResumeTest):
    def disturbed(self, act, *changes):
        """Runs until done; `act(run)` ends each but the last."""
        parts = 0
        while True:
            options = ["--resume"] if parts else []
            if parts and changes:
                options += changes[parts % len(changes)]
            since = self.index() if self.position.exists() else 0
            run = self.start(self.graph, "--quiet", "--summary", self.summary, *options)
            if parts < 4:
                self.wait_for_progress(run, since)
                self.assertFalse(run.ended(), "it came to its end before it was disturbed")
                act(run)
            finished = run.finish()
            parts += 1
            if parts == 5:
                self.assertEqual(finished.code, 0, finished.err)
                return self.results()
            self.assertNotEqual(finished.code, 0)

    def test_after_stops(self):
        expected = self.undisturbed()
        seen = self.disturbed(lambda run: run.process.send_signal(signal.SIGINT))
        self.assertEqual(seen, expected)

    def test_after_the_supervisor_was_killed(self):
        expected = self.undisturbed()
        chance = random.Random(SEED)

        def act(run):
            time.sleep(chance.uniform(0, 0.03))
            run.process.kill()
            run.process.wait()

        self.assertEqual(self.disturbed(act), expected)

    def test_however_the_work_is_shared(self):
        expected = self.undisturbed()
        changes = [["--set", "stages.work.replicas=4"],
                   ["--set", "stages.work.rows=2", "--set", "stages.work.replicas=1"],
                   ["--set", "stages.numbers.replicas=2", "--set", "stages.numbers.buffers=40"],
                   ["--in-process"]]
        seen = self.disturbed(lambda run: run.process.send_signal(signal.SIGTERM), *changes)
        self.assertEqual(seen, expected)

    def test_of_consumers_that_were_killed_within_one_run(self):
        expected = self.undisturbed()
        run = self.start(self.graph, "--summary", self.summary)
        kills = 0
        while kills < 8:
            self.wait_for_progress(run, self.index() if self.position.exists() else 0)
            if run.ended():
                break
            worker = workers_of(run.pid).get("end.0")
            if worker is None:
                continue
            os.kill(worker, signal.SIGKILL)
            kills += 1
            brigade_program.wait_until(
                lambda: workers_of(run.pid).get("end.0") not in (None, worker) or run.ended(),
                "a successor")
        finished = run.finish()
        self.assertEqual(finished.code, 0, finished.err)
        self.assertGreater(kills, 3)
        self.assertEqual(self.results(), expected)
        summary = json.loads(self.summary.read_text())
        self.assertEqual(summary["samples"], EPOCHS * SAMPLES)
        self.assertEqual(summary["stages"][2]["restarts"], kills)
        said = re.findall(r"the run goes on from its last checkpoint \(restart (\d+) of 1000",
                          finished.err)
        self.assertEqual(said, [str(i + 1) for i in range(kills)])

    def test_control_a_run_that_begins_again_is_another(self):
        expected = self.undisturbed()
        run = self.start(self.graph, "--quiet")
        self.wait_for_progress(run)
        run.process.send_signal(signal.SIGINT)
        self.assertEqual(run.finish().code, 130)
        self.go("--resume", "--set", "stages.end.params.checksum=true")
        resumed = self.results()
        self.assertEqual(resumed, expected)
        state = bytearray(self.checkpoint.read_bytes())
        self.assertEqual(len(state), 32)
        self.go("--overwrite")  # from the beginning: it counts its own samples only
        self.assertEqual(self.results(), expected)


class BesideACacheInAFile(ResumeTest):
    def setUp(self):
        super().setUp()
        self.cache = self.folder / "kept"
        self.graph = self.graph.replace(
            "  end:\n", f"  kept: {{transform: cache, from: work, shuffle: true, params: {{file: "
                       f"{self.cache}}}}}\n  end:\n").replace("{stage: work,", "{stage: kept,")

    def test_it_goes_on_with_what_is_kept(self):
        expected = self.undisturbed()
        self.cache.unlink()
        run = self.start(self.graph, "--quiet")
        brigade_program.wait_until(
            lambda: self.position.exists() and self.index() > SAMPLES + 500 or run.ended(),
            "the second epoch")
        run.process.send_signal(signal.SIGINT)
        self.assertEqual(run.finish().code, 130)
        self.assertTrue(self.cache.exists())
        finished = self.run_graph(self.graph, "--summary", self.summary, "--resume")
        self.assertEqual(finished.code, 0, finished.err)
        self.assertIn("numbers, work are not started", finished.err)
        self.assertEqual(self.results(), expected)

    def test_in_the_first_epoch_it_is_filled_again(self):
        expected = self.undisturbed()
        self.cache.unlink()
        run = self.start(self.graph, "--quiet", "--set", "stages.work.params.ms=0")
        self.wait_for_progress(run)
        run.process.kill()
        run.finish()
        self.go("--resume")
        self.assertEqual(self.results(), expected)


class Photographs(ResumeTest):
    """Cut and flipped at random: the same cuts before and after, whoever decodes."""

    image, photographs = images_test.Images.image, images_test.Images.photographs

    def test_give_the_same_batches(self):
        count = self.photographs(copies=40)
        self.graph = images_test.GRAPH.replace(
            "from: decode}", "from: decode, params: {sleep_ms: 2}}")
        for word, value in (("FOLDER", self.folder), ("REPLICAS", 2), ("EPOCHS", 2),
                            ("ON_ERROR", "stop")):
            self.graph = self.graph.replace(word, str(value))
        self.go()
        expected = self.results()
        self.assertEqual(expected["samples"], 2 * count)
        self.graph += f"checkpoint: {{file: {self.checkpoint}, every: 64}}\n"
        run = self.start(self.graph, "--quiet")
        brigade_program.wait_until(lambda: self.position.exists() or run.ended(), "a checkpoint")
        run.process.kill()
        run.finish()
        run = self.start(self.graph, "--quiet", "--resume", "--set", "stages.decode.replicas=4")
        before = self.position.read_text()
        brigade_program.wait_until(
            lambda: self.position.read_text() != before or run.ended(), "another checkpoint")
        run.process.send_signal(signal.SIGINT)
        self.assertEqual(run.finish().code, 130)
        self.go("--resume", "--set", "stages.decode.replicas=1")
        self.assertEqual(self.results(), expected)


class FarIntoTheData(ResumeTest):
    def test_nothing_is_read_again(self):
        self.graph = self.graph.replace(f"count: {SAMPLES}", f"count: {10**12}")
        run = self.start(self.graph, "--quiet")
        self.wait_for_progress(run)
        run.process.send_signal(signal.SIGINT)
        self.assertEqual(run.finish().code, 130)
        position = json.loads(self.position.read_text())
        position["entries"] = position["entries"][:1]
        far = 10**11 // 3200 * 3200
        position["entries"][0]["lanes"][0]["index"] = far
        self.position.write_text(json.dumps(position))
        run = self.start(self.graph, "--quiet", "--resume")
        brigade_program.wait_until(
            lambda: json.loads(self.position.read_text())["entries"][0]["lanes"][0]["index"] > far,
            "a checkpoint behind the position")
        run.process.send_signal(signal.SIGINT)
        self.assertEqual(run.finish().code, 130)


class WhatIsRefused(ResumeTest):
    def setUp(self):
        super().setUp()
        run = self.start(self.graph, "--quiet")
        self.wait_for_progress(run)
        run.process.send_signal(signal.SIGINT)
        self.assertEqual(run.finish().code, 130)

    def refused(self, *options, code=2):
        before = {path.name: path.read_bytes() for path in self.folder.glob("line.ckpt*")}
        finished = self.run_graph(self.graph, "--quiet", "--resume", *options)
        self.assertEqual(finished.code, code, finished.err)
        self.assertEqual(len(finished.errors()), 1, finished.err)
        after = {path.name: path.read_bytes() for path in self.folder.glob("line.ckpt*")}
        self.assertEqual(after, before, "the checkpoint was touched")
        return finished.errors()[0].removeprefix("brigade: error: ")

    def test_another_order(self):
        for change, difference in (
                ("seed=8", "numbers.seed was 7, is 8"),
                ("stages.numbers.shuffle=false", "numbers.shuffle was true, is false"),
                ("stages.numbers.limit=100", "numbers.limit was 0, is 100"),
                ("stages.work.params.ms=1", 'work.params.ms was "0", is "1"'),
                ("stages.end.from.batch=64", "end.batch was 50, is 64"),
                ("shard={rank: 0, world: 2}", "graph.ranks was 0 of 1, is 0 of 2")):
            with self.subTest(change=change):
                self.assertEqual(
                    self.refused("--set", change),
                    f"cannot go on from {self.position}: the samples or their order would be "
                    f"others: {difference}; undo that, or run without --resume")
        self.go("--resume")  # the control: nothing else was wrong

    def test_a_graph_without_a_place(self):
        self.graph = re.sub("checkpoint:.*\n", "", self.graph).replace(FOREVER, "")
        self.assertEqual(self.refused(),
                         "--resume needs a place where positions are kept: write `checkpoint: "
                         "{file: PATH}` at the top level of the graph, and run it once without "
                         "--resume")

    def test_files_that_do_not_belong_together(self):
        self.checkpoint.write_bytes(b"of something else")
        self.assertEqual(self.refused(),
                         f"{self.position} does not belong to {self.checkpoint}, which was "
                         "written by something else; delete it to begin anew")

    def test_half_a_position(self):
        text = self.position.read_bytes()
        self.position.write_bytes(text[:len(text) // 2])
        self.assertRegex(self.refused(), f"^{self.position}: it cannot be read: .*; delete it to "
                                         "begin anew, or run without --resume$")


class ASourceThatChanged(ResumeTest):
    def test_is_refused(self):
        table = self.folder / "table.csv"
        table.write_text("x\n" + "".join(f"{i}\n" for i in range(SAMPLES)))
        self.graph = (self.graph.replace("producer: synthetic", "producer: csv").replace(
            f"{{count: {SAMPLES}, shape: [16], fill: random}}",
            f"{{file: {table}, columns: {{x: x}}}}"))
        run = self.start(self.graph, "--quiet")
        self.wait_for_progress(run)
        run.process.send_signal(signal.SIGINT)
        self.assertEqual(run.finish().code, 130)
        table.write_text("x\n" + "".join(f"{i}\n" for i in range(SAMPLES + 1)))
        finished = self.run_graph(self.graph, "--quiet", "--resume")
        self.assertEqual(finished.code, 1, finished.err)
        self.assertIn(f"its source has {SAMPLES + 1:,} samples now and had {SAMPLES:,} at the "
                      "checkpoint; bring them back, or run without --resume",
                      finished.errors()[0])


class Training(training_test.TorchTest):
    """The loss of every step of a trainer that was stopped, or killed, is that of one that was
    not."""

    def setUp(self):
        super().setUp()
        self.losses = self.folder / "loss.csv"
        self.yaml = self.graph(count=320, epochs=STEPS // 20).replace(
            "params: {model: small_cnn", f"params: {{loss_file: {self.losses}, model: small_cnn"
        ).replace("checkpoint: {", "checkpoint: {every: 160, ")
        self.assertIn("every: 160", self.yaml)

    def steps(self):
        return self.losses.read_text().splitlines()

    def wait_for_steps(self, run, count):
        brigade_program.wait_until(
            lambda: (self.losses.exists() and len(self.steps()) > count) or run.ended(), "steps")

    def undisturbed(self):
        finished = self.run_graph(self.yaml, "--quiet")
        self.assertEqual(finished.code, 0, finished.err)
        expected = self.steps()
        self.assertEqual(len(expected), 1 + STEPS)
        for path in self.folder.glob("model.pt*"):
            path.unlink()
        self.losses.unlink()
        return expected

    def test_after_a_stop(self):
        expected = self.undisturbed()
        run = self.start(self.yaml, "--quiet")
        self.wait_for_steps(run, 25)
        run.process.send_signal(signal.SIGINT)
        self.assertEqual(run.finish().code, 130)
        self.assertLess(len(self.steps()), len(expected))
        finished = self.run_graph(self.yaml, "--quiet", "--resume")
        self.assertEqual(finished.code, 0, finished.err)
        self.assertEqual(self.steps(), expected)

    def test_after_the_trainer_was_killed(self):
        expected = self.undisturbed()
        run = self.start(self.yaml)
        self.wait_for_steps(run, 25)
        os.kill(workers_of(run.pid)["train.0"], signal.SIGKILL)
        finished = run.finish()
        self.assertEqual(finished.code, 0, finished.err)
        self.assertIn("the run goes on from its last checkpoint (restart 1 of 5", finished.err)
        self.assertEqual(self.steps(), expected)

    def test_control_with_restart_never_it_is_the_end(self):
        run = self.start(self.yaml.replace("consumer: torch_classifier",
                                           "consumer: torch_classifier\n    restart: never"))
        self.wait_for_steps(run, 25)
        os.kill(workers_of(run.pid)["train.0"], signal.SIGKILL)
        self.assertEqual(run.finish().code, 1)


if __name__ == "__main__":
    main()
