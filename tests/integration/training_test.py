#!/usr/bin/env python3
"""The trainer as a user meets it: the same loss whatever feeds it, checkpoints that are whole at
any instant, and one line for what does not fit."""

import contextlib
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import time
import unittest
import zipfile

import brigade_program
import idx_files
from brigade_program import ProgramTest, Running, leftovers, main, workers_of

SOURCE = pathlib.Path(__file__).resolve().parents[2]
DEMO = SOURCE / "configs" / "fashion_mnist.yaml"
DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
SEED = 20260131
KILLS = 25

GRAPH = """
seed: 7
epochs: 3
stages:
  images:
    producer: idx_images
    shuffle: true
    params: {images: FOLDER/images, labels: FOLDER/labels}
  augment:
    transform: augment_image
    from: images
    params: {pad: 1, crop: SIDE}
    batch: 16
  train:
    consumer: torch_classifier
    from: {train: augment}
    params: {model: small_cnn}
checkpoint: {file: CHECKPOINT}
"""


class TorchTest(ProgramTest):
    def setUp(self):
        self.torch_module()
        super().setUp()
        self.checkpoint = self.folder / "model.pt"

    def graph(self, side=8, count=64, model="small_cnn", epochs=3, classes=10, more=""):
        (self.folder / "images").write_bytes(idx_files.images(count, side, side))
        (self.folder / "labels").write_bytes(idx_files.labels(count))
        text = GRAPH + more
        for word, value in (("FOLDER", self.folder), ("SIDE", side),
                            ("CHECKPOINT", self.checkpoint), ("epochs: 3", f"epochs: {epochs}"),
                            ("small_cnn", f"{model}, classes: {classes}")):
            text = text.replace(word, str(value))
        return text

    def one_line(self, finished):
        """What the error says that ended a run of the stage `train`."""
        self.assertEqual(finished.code, 1, finished.err)
        self.assertEqual(len(finished.errors()), 1, finished.err)
        said = re.fullmatch(r'brigade: error: stage "train" replica 0 \(pid \d+\) (.*)',
                            finished.errors()[0])
        self.assertIsNotNone(said, finished.err)
        return said[1]

    def check_checkpoint(self):
        """It is a whole archive: every member is there and has the checksum it was written with."""
        with zipfile.ZipFile(self.checkpoint) as archive:
            self.assertIsNone(archive.testzip())
            names = {pathlib.PurePath(name).name for name in archive.namelist()}
        self.assertLessEqual({"data.pkl", "constants.pkl", "version"}, names)


@unittest.skipUnless(DATA.is_dir(), f"there is no {DATA}: install dataset-fashion-mnist")
class LossCurve(TorchTest):
    def curve(self, replicas, seed=7):
        """The loss of every step, the lines of the epochs and the results of a run of the demo."""
        path, losses = self.folder / "summary.json", self.folder / "loss.csv"
        settings = {"stages.augment.replicas": replicas, "stages.train.threads": 1, "seed": seed,
                    "stages.train.device": "cpu", "stages.train.params.loss_file": losses,
                    "epochs": 2}
        options = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        self.runs.append(Running(["run", DEMO, "--overwrite", "--limit", 600, "--summary", path,
                                  *options],
                                 environment={"TMPDIR": str(self.temporary)}))
        finished = self.runs[-1].finish()
        self.assertEqual(finished.code, 0, finished.err)
        said = re.findall(r"^train: epoch .*$", finished.err + finished.out, re.MULTILINE)
        self.assertEqual(len(said), 2, finished.err)
        steps = losses.read_text().splitlines()
        self.assertEqual(steps[0], "epoch,step,loss")
        self.assertEqual([step.rsplit(",", 1)[0] for step in steps[1:]],
                         ["1,1", "1,2", "1,3", "2,4", "2,5", "2,6"])
        results = json.loads(path.read_text())["results"]["train"]
        self.assertEqual(set(results),
                         {"samples", "loss", "train_accuracy", "accuracy", "test_loss"})
        self.assertEqual(results["samples"], 2 * 2 * 600)
        return steps, said, results

    def test_any_number_of_replicas_gives_the_same_bits(self):
        one = self.curve(1)
        for replicas in (2, 4):
            with self.subTest(replicas=replicas):
                self.assertEqual(self.curve(replicas), one)
        other = self.curve(1, seed=8)  # the control
        self.assertFalse(set(other[0][1:]) & set(one[0][1:]))
        self.assertNotEqual(other[2]["loss"], one[2]["loss"])


class Checkpoints(TorchTest):
    def test_a_run_that_ends_well_leaves_the_checkpoint_and_nothing_else(self):
        finished = self.run_graph(self.graph(), "--quiet")
        self.assertEqual((finished.code, finished.err), (0, ""))
        self.check_checkpoint()
        self.assertEqual({path.name for path in self.folder.iterdir()},
                         {"graph.yaml", "images", "labels", "model.pt", "model.pt.position",
                          "temporary"})

    def test_control_half_a_checkpoint_is_found_out(self):
        self.run_graph(self.graph(), "--quiet")
        whole = self.checkpoint.read_bytes()
        for broken in (whole[:len(whole) // 2], whole[:-1],
                       whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:]):
            self.checkpoint.write_bytes(broken)
            with self.assertRaises((zipfile.BadZipFile, AssertionError)):
                self.check_checkpoint()

    def test_a_trainer_that_is_killed_while_it_writes_leaves_a_whole_one_or_none(self):
        # 16 samples an epoch and megabytes of parameters: it writes most of the time.
        yaml = self.graph(side=64, count=16, model="mlp", epochs=100_000).replace(
            "consumer: torch_classifier", "consumer: torch_classifier\n    restart: never")
        chance = random.Random(SEED)
        whole = in_the_middle = 0
        for number in range(KILLS):
            with self.subTest(number=number, seed=SEED), contextlib.suppress(FileNotFoundError):
                for path in self.folder.glob("model.pt*"):
                    path.unlink()
                in_the_middle += self.kill_trainer(
                    yaml, chance.uniform(0, 0.1) if number % 2 else None)
                self.check_checkpoint()
                whole += 1
        self.assertGreater(whole, KILLS // 2)
        self.assertGreater(in_the_middle, 0, "no kill hit the writing")

    def kill_trainer(self, yaml, seconds):
        """Kills it `seconds` after its first checkpoint; None: when it writes another one. True if
        that was in the middle of one."""
        run = self.start(yaml, "--quiet")
        brigade_program.wait_until(
            lambda: any(path.suffix != ".lock" for path in self.folder.glob("model.pt*")) or
            run.process.poll() is not None, "a checkpoint")
        self.assertIsNone(run.process.poll(), "the run ended early")
        trainer = workers_of(run.pid)["train.0"]
        if seconds is None:
            brigade_program.wait_until(lambda: self.has_a_file_without_a_name(trainer), "writing")
        else:
            time.sleep(seconds)
        writing = seconds is None or self.has_a_file_without_a_name(trainer)
        os.kill(trainer, signal.SIGKILL)
        said = self.one_line(run.finish())
        self.assertTrue(said.startswith(
            "was killed by SIGKILL (manually, or by the kernel: out of memory)"), said)
        self.assertEqual(leftovers() - self.before, set())
        self.assertLessEqual({path.name for path in self.folder.glob("model*")},
                             {"model.pt", "model.pt.position"})
        return writing

    def has_a_file_without_a_name(self, pid):
        """Whether it has begun a file in the folder that has no name yet."""
        links = []
        for path in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                links.append(os.readlink(path))
        return any(link.startswith(f"{self.folder}/#") for link in links)

    def mounted(self, options):
        """Runs the graph with a file system of its own for its checkpoint."""
        disk = self.folder / "disk"
        disk.mkdir()
        self.checkpoint = disk / "model.pt"
        path = self.write("graph.yaml", self.graph())
        shell = ["unshare", "-rm", "sh", "-c", f"mount -t tmpfs -o {options} none {disk} && $0"]
        try:
            tried = subprocess.run([*shell, "true"], capture_output=True, check=False)
        except OSError as error:
            self.skipTest(f"cannot mount a small disk: {error}")
        if tried.returncode != 0:
            self.skipTest(f"cannot mount a small disk: {tried.stderr.decode().strip()}")
        shell[-1] = shell[-1].replace("$0", f'"$@"; code=$?; ls {disk}; exit $code')
        done = subprocess.run([*shell, "sh", brigade_program.PROGRAM, "run", path, "--quiet"],
                              capture_output=True, check=False, text=True,
                              timeout=brigade_program.SECONDS_MAX,
                              env={**os.environ, "TMPDIR": str(self.temporary)})
        self.assertEqual(done.stdout, "", "left on that disk")
        return brigade_program.Finished(done.returncode, done.stdout, done.stderr)

    def test_a_full_disk(self):
        self.assertRegex(self.one_line(self.mounted("size=100k")),
                         rf'^failed: cannot write {self.checkpoint} '
                         r"\(2\d\d\.\d KiB\): No space left on device; the previous file is "
                         "intact$")

    def test_a_folder_that_may_not_be_written_is_said_before_training(self):
        finished = self.mounted("ro")
        self.assertEqual(finished.code, 2)
        self.assertEqual(finished.err,
                         f"brigade: error: cannot write {self.checkpoint}: folder "
                         f"{self.checkpoint.parent}: Read-only file system\n")


class WhatDoesNotFit(TorchTest):

    def test_too_little_address_space_for_libtorch(self):
        said = self.one_line(self.run_graph(self.graph(), "--quiet",
                                            limits=[(resource.RLIMIT_AS, 100 << 20)]))
        self.assertRegex(said, r"^failed: cannot open the module .*/brigade_torch\.so: \S+: failed "
                               "to map segment from shared object$")

    def test_any_amount_of_address_space_is_enough_or_one_line(self):
        # The amounts at which it just starts depend on LibTorch: found by halving.
        few, enough = 100, 16 * 1024
        codes = set()
        while enough - few > 4:
            size = (few + enough) // 2
            finished = self.run_graph(self.graph(epochs=1), "--quiet", "--overwrite",
                                      limits=[(resource.RLIMIT_AS, size << 20)])
            codes.add(finished.code)
            if finished.code == 0:
                enough = size
            else:
                self.one_line(finished)
                few = size
        self.assertEqual(codes, {0, 1})


if __name__ == "__main__":
    main()
