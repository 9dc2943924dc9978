#!/usr/bin/env python3
"""Resumed runs: after a stop, after the whole run was killed, after a consumer that saves was
killed. Together they are the run that nobody disturbed, bit by bit."""

import ctypes
import json
import os
import random
import re
import signal
import subprocess
import time

import brigade_program
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

# For a run that is to be disturbed: time to do so.
SLOWLY = ("--set", "stages.end.params.sleep_ms=20")
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
        queue = json.loads(self.position.read_text())["entries"][0]["queues"][0]
        return queue["epoch"] * SAMPLES + queue["index"]

    def wait_for_progress(self, run, since=0):
        brigade_program.wait_until(
            lambda: (self.position.exists() and self.index() > since) or run.ended(), "progress")


class TheSameBits(ResumeTest):
    def test_after_the_supervisor_was_killed(self):
        expected = self.undisturbed()
        chance = random.Random(SEED)
        lock = self.folder / f"{self.checkpoint.name}.lock"
        for part in range(5):
            since = self.index() if part else 0
            run = self.start(self.graph, "--quiet", "--summary", self.summary,
                             *["--resume"] * (part > 0), *(SLOWLY if part < 4 else ()))
            if part < 4:
                self.wait_for_progress(run, since)
                self.assertFalse(run.ended(), "it came to its end before it was killed")
                time.sleep(chance.uniform(0, 0.1))
                run.process.kill()
                run.process.wait()
                self.assertEqual(lock.read_bytes(), b"")
            finished = run.finish()
            self.assertEqual(finished.code == 0, part == 4, finished.err)
        self.assertEqual(self.results(), expected)
        self.assertFalse(lock.exists())

    def test_of_consumers_that_were_killed_within_one_run(self):
        expected = self.undisturbed()
        run = self.start(self.graph, "--summary", self.summary, *SLOWLY)
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
        said = re.findall(r"the run resumes from its last checkpoint \(restart (\d+) of 1000",
                          finished.err)
        self.assertEqual(said, [str(i + 1) for i in range(kills)])

    def test_control_a_run_that_begins_again_is_another(self):
        expected = self.undisturbed()
        run = self.start(self.graph, "--quiet", *SLOWLY)
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
        run = self.start(self.graph, "--quiet", *SLOWLY)
        brigade_program.wait_until(
            lambda: self.position.exists() and self.index() > SAMPLES + 500 or run.ended(),
            "the second epoch")
        run.process.send_signal(signal.SIGINT)
        self.assertEqual(run.finish().code, 130)
        self.assertTrue(self.cache.exists())
        finished = self.run_graph(self.graph, "--summary", self.summary, "--resume")
        self.assertEqual(finished.code, 0, finished.err)
        self.assertIn("numbers, work do not start", finished.err)
        self.assertEqual(self.results(), expected)

    def test_in_the_first_epoch_it_is_filled_again(self):
        expected = self.undisturbed()
        self.cache.unlink()
        run = self.start(self.graph, "--quiet", *SLOWLY)
        self.wait_for_progress(run)
        run.process.kill()
        run.finish()
        self.go("--resume")
        self.assertEqual(self.results(), expected)


class APartOfASource(ResumeTest):
    def setUp(self):
        super().setUp()
        self.graph = self.graph.replace(f"count: {SAMPLES}", f"count: {2 * SAMPLES}").replace(
            "shuffle: true", "shuffle: true\n    split: {half: 0.5, seed: 3}\n    part: half")

    def test_it_goes_on_in_the_middle_of_it_and_of_no_other(self):
        expected = self.undisturbed()
        run = self.start(self.graph, "--quiet", *SLOWLY)
        self.wait_for_progress(run)
        os.kill(workers_of(run.pid)["work.0"], signal.SIGKILL)
        self.wait_for_progress(run, self.index())
        self.assertFalse(run.ended(), "it came to its end before it was killed")
        run.process.kill()
        run.finish()
        for setting, said in (("split.seed=4", "seed: 3, is half: 50%, seed: 4"),
                              ("part=other", "numbers.part was half, is other"),
                              ("limit=100%", "numbers.limit was 0, is 100%"),
                              ("skip=2", "numbers.skip is new")):
            with self.subTest(setting):
                refused = self.run_graph(self.graph, "--quiet", "--resume", "--set",
                                         f"stages.numbers.{setting}")
                self.assertNotEqual(refused.code, 0)
                self.assertIn(said, refused.err)
        self.go("--resume")
        self.assertEqual(self.results(), expected)

    def test_control_the_other_part_has_other_samples(self):
        expected = self.undisturbed()
        self.go("--set", "stages.numbers.part=other")
        self.assertEqual(self.results()["samples"], expected["samples"])
        self.assertNotEqual(self.results(), expected)


def with_checksum(position):
    """As the program writes it."""
    text = json.dumps(position, indent=1).removesuffix("\n}").encode()
    xxhash = ctypes.CDLL("libxxhash.so.0")  # which the program has
    xxhash.XXH3_64bits.restype = ctypes.c_uint64
    xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    digest = f"{len(text)} bytes, xxh3 {xxhash.XXH3_64bits(text, len(text)):016x}"
    return text + f',\n "checksum": "{digest}"\n}}\n'.encode()


class FarIntoTheData(ResumeTest):
    def test_nothing_is_read_again(self):
        self.graph = self.graph.replace(f"count: {SAMPLES}", f"count: {10**12}")
        run = self.start(self.graph, "--quiet", *SLOWLY)
        self.wait_for_progress(run)
        run.process.send_signal(signal.SIGINT)
        self.assertEqual(run.finish().code, 130)
        position = json.loads(self.position.read_text())
        position["entries"] = position["entries"][:1]
        far = 10**11 // 3200 * 3200
        position["entries"][0]["queues"][0]["index"] = far
        self.position.write_text(json.dumps(position))  # the control: as if by hand
        refused = self.run_graph(self.graph, "--quiet", "--resume")
        self.assertEqual(refused.code, 2, refused.err)
        self.assertIn(f"{self.position}: it is damaged", refused.err)
        del position["checksum"]
        self.position.write_bytes(with_checksum(position))
        run = self.start(self.graph, "--quiet", "--resume")
        brigade_program.wait_until(
            lambda: json.loads(self.position.read_text())["entries"][0]["queues"][0]["index"] > far,
            "a checkpoint behind the position")
        run.process.send_signal(signal.SIGINT)
        self.assertEqual(run.finish().code, 130)


class Libraries(ResumeTest):
    def test_those_that_decode_are_kept_and_others_are_a_warning(self):
        (self.folder / "images" / "one").mkdir(parents=True)
        for i in range(8):
            (self.folder / "images" / "one" / f"{i}.ppm").write_bytes(
                b"P6 8 8 255\n" + bytes([i]) * 192)
        self.graph = f"""
checkpoint: {{file: {self.checkpoint}}}
stages:
  files: {{producer: image_folder, params: {{root: {self.folder}/images}}}}
  decode: {{transform: decode_image, from: files, params: {{crop: center, size: 8}}}}
  end: {{consumer: count, from: decode}}
"""
        self.assertEqual(self.run_graph(self.graph, "--quiet").code, 0)
        plan = subprocess.run(
            [brigade_program.PROGRAM, "plan", "--json", self.folder / "graph.yaml"],
            capture_output=True, text=True, check=True).stdout
        libraries = json.loads(plan)["libraries"]
        self.assertRegex(libraries["image"], r"^libjpeg-turbo \d")
        position, state = json.loads(self.position.read_text()), self.checkpoint.read_bytes()
        now = position["entries"][0]["libraries"]
        self.assertTrue(now.startswith(libraries["image"]), now)
        for before, warnings in ((now, 0), (now.replace("libjpeg-turbo ", "libjpeg-turbo 0."), 1)):
            position["entries"][0]["libraries"] = before
            position.pop("checksum", None)
            self.position.write_bytes(with_checksum(position))
            self.checkpoint.write_bytes(state)
            resumed = self.run_graph(self.graph, "--quiet", "--resume", "--set", "epochs=2")
            self.assertEqual(resumed.code, 0, resumed.err)
            said = [line for line in resumed.err.splitlines() if "libjpeg-turbo 0." in line]
            self.assertEqual(len(said), warnings, resumed.err)
            self.assertEqual(resumed.err.count("warning: "), warnings, resumed.err)


class Training(training_test.TorchTest):
    """The loss of every step of a trainer that was stopped, or killed, is that of one that was
    not. `end` reads the same batches: who is to be disturbed goes at its pace."""

    def setUp(self):
        super().setUp()
        self.losses = self.folder / "loss.csv"
        self.yaml = self.graph(count=320, epochs=STEPS // 20).replace(
            "params: {model: small_cnn", f"params: {{loss_file: {self.losses}, model: small_cnn"
        ).replace("checkpoint: {", "  end: {consumer: count, from: augment}\n"
                                   "checkpoint: {every: 160, ")
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
        run = self.start(self.yaml, "--quiet", *SLOWLY)
        self.wait_for_steps(run, 25)
        run.process.send_signal(signal.SIGINT)
        self.assertEqual(run.finish().code, 130)
        self.assertLess(len(self.steps()), len(expected))
        finished = self.run_graph(self.yaml, "--quiet", "--resume")
        self.assertEqual(finished.code, 0, finished.err)
        self.assertEqual(self.steps(), expected)

    def test_after_the_trainer_was_killed(self):
        expected = self.undisturbed()
        run = self.start(self.yaml, *SLOWLY)
        self.wait_for_steps(run, 25)
        os.kill(workers_of(run.pid)["train.0"], signal.SIGKILL)
        finished = run.finish()
        self.assertEqual(finished.code, 0, finished.err)
        self.assertIn("the run resumes from its last checkpoint (restart 1 of 5", finished.err)
        self.assertEqual(self.steps(), expected)

    def test_control_with_restart_never_it_is_the_end(self):
        run = self.start(self.yaml.replace("consumer: torch_classifier",
                                           "consumer: torch_classifier\n    restart: never"),
                         *SLOWLY)
        self.wait_for_steps(run, 25)
        os.kill(workers_of(run.pid)["train.0"], signal.SIGKILL)
        self.assertEqual(run.finish().code, 1)


if __name__ == "__main__":
    main()
