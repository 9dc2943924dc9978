#!/usr/bin/env python3
"""A trainer whose batches are copied to a device: `device: host` copies them in threads, late, and
fails where it is told to. What a GPU does otherwise is its driver's."""

import json
import os
import pathlib
import re
import signal
import unittest

import idx_files
from brigade_program import ProgramTest, leftovers, main, wait_until, workers_of

GRAPH = """
seed: 7
epochs: 3
stages:
  images:
    producer: idx_images
    shuffle: true
    params: {images: FOLDER/images, labels: FOLDER/labels}
    batch: 16
  train:
    consumer: torch_classifier
    from: {train: images}
    params: {model: linear, loss_file: FOLDER/loss.csv}
checkpoint: {file: FOLDER/model.pt, every: 480}
"""
IMAGES = 480  # two copies of each of 30 batches in an epoch
LATE = "delay_us=300"


class DeviceTest(ProgramTest):
    def setUp(self):
        self.torch_module()
        super().setUp()
        (self.folder / "images").write_bytes(idx_files.images(IMAGES, 8, 8))
        (self.folder / "labels").write_bytes(idx_files.labels(IMAGES))
        self.yaml = GRAPH.replace("FOLDER", str(self.folder))

    def start_training(self, device, host=LATE, *options):
        return self.start(self.yaml, "--set", f"stages.train.device={device}", *options,
                          environment={"BRIGADE_HOST_DEVICE": host})

    def train(self, device, host=LATE, *options):
        return self.start_training(device, host, *options).finish()

    def losses(self):
        return (self.folder / "loss.csv").read_text().splitlines()

    def expected(self):
        """The losses on the CPU."""
        finished = self.train("cpu", "", "--overwrite", "--quiet")
        self.assertEqual((finished.code, finished.err), (0, ""))
        self.assertEqual(len(self.losses()), 1 + 3 * IMAGES // 16)
        return self.losses()

    def failure(self, finished):
        self.assertEqual(finished.code, 1, finished.err)
        self.assertEqual(len(finished.errors()), 1, finished.err)
        said = re.fullmatch(r'brigade: error: stage "train" replica 0 \(pid \d+\) (.*)',
                            finished.errors()[0])
        self.assertIsNotNone(said, finished.err)
        return said[1]

    def check_goes_on_as_if_nothing_had_been(self, expected):
        self.assertLess(len(self.losses()), len(expected))
        finished = self.train("host", LATE, "--resume")
        self.assertEqual(finished.code, 0, finished.err)
        self.assertEqual(self.losses(), expected)


class Training(DeviceTest):
    def test_has_the_same_bits_however_late_copies_are(self):
        expected = self.expected()
        for host in ("", LATE, "delay_us=3000", "pinned=0", "read_only_refused"):
            for more in ((), ("--set", "stages.train.hold=1")):
                with self.subTest(host=host, more=more):
                    finished = self.train("host", host, "--overwrite", *more)
                    self.assertEqual(finished.code, 0, finished.err)
                    self.assertEqual(self.losses(), expected)

    def test_batches_with_skipped_samples_too(self):
        self.yaml = self.yaml.replace("    batch: 16\n", "").replace(
            "  train:\n", "  picky: {transform: delay, from: images, batch: 16, params: {ms: 0, "
            "fail_at: [3, 17, 130]}, on_error: {skip: 100}}\n  train:\n").replace(
                "train: images", "train: picky")
        self.assertEqual(self.train("cpu", "").code, 0)
        expected = self.losses()
        finished = self.train("host", LATE, "--overwrite")
        self.assertEqual(finished.code, 0, finished.err)
        self.assertIn("skipped", finished.err)
        self.assertEqual(self.losses(), expected)

    def test_control_a_batch_that_goes_back_before_its_copy_is_noticed(self):
        finished = self.train("host", "early delay_us=50000", "--set", "epochs=100")
        self.assertRegex(self.failure(finished),
                         "device host is lost: memory was written while it was being copied: it "
                         "was returned before the event$")

    def test_says_what_was_pinned_and_what_that_took(self):
        said = self.train("host").err
        self.assertRegex(said, r"(?m)^train: pinned \d+\.\d [KM]iB for device host in \d")
        self.assertNotIn("pinned", self.train("host", LATE, "--overwrite", "--set",
                                              "stages.train.pin=no").err)

    def test_where_nothing_may_be_pinned_that_is_a_line_or_an_error(self):
        refused = (r"device host: pinned memory of \d+\.\d [KM]iB does not fit: the limit is 0 B, "
                   "0 B are in use")
        finished = self.train("host", "pinned=0")
        self.assertEqual(finished.code, 0, finished.err)
        self.assertRegex(finished.err,
                         "(?m)^train: copies from pageable memory, which is slower: " +
                         refused + "$")
        self.assertRegex(self.failure(self.train("host", "pinned=0", "--overwrite", "--set",
                                                 "stages.train.pin=yes")), "failed: " + refused)

    def test_a_device_without_memory_is_said_before_the_first_sample(self):
        said = self.failure(self.train("host", "memory=1KiB"))
        self.assertRegex(said, r"^failed: device host: device memory of .* does not fit: the "
                              r"limit is 1\.0 KiB")
        self.assertFalse((self.folder / "model.pt").exists())


class TrainingOnTheDevice(DeviceTest):
    """Pictures come by `memory: device` and are read where they lie."""

    UPLOAD = ("  upload: {transform: STAGE, from: images, batch: 16, device: host, memory: device,"
              " buffers: 4}\n")  # the copies are not an epoch ahead of the trainer

    def place(self, stage, stages=("images",)):
        for name in stages:
            line = self.UPLOAD.replace("STAGE", stage).replace("images", name)
            self.yaml = self.yaml.replace("  train:\n", line.replace("upload", name + "_there")
                                          + "  train:\n")
            self.yaml = self.yaml.replace(f": {name}}}", f": {name}_there}}")

    def test_has_the_losses_of_the_hosts_memory(self):
        expected = self.expected()
        self.place("to_device, params: {tensor: image}")
        self.assertIn("train: images_there", self.yaml)
        for host in ("", LATE, "pinned=0"):
            for more in ((), ("--set", "stages.train.hold=1")):
                with self.subTest(host=host, more=more):
                    finished = self.train("host", host, "--overwrite", *more)
                    self.assertEqual(finished.code, 0, finished.err)
                    self.assertEqual(self.losses(), expected)

    def test_takes_floats_that_were_made_there(self):
        floats = "normalize_image, params: {mean: [0.5], std: [0.5], channels_last: true}"
        expected = self.expected()
        self.place(floats)
        finished = self.train("host", LATE, "--overwrite")
        self.assertEqual(finished.code, 0, finished.err)
        self.assertEqual(self.losses(), expected)

    def test_of_two_sources_too(self):
        self.yaml = self.yaml.replace("from: {train: images}", "from: {train: images, test: seen}\n"
                                      "    join: epochs")
        self.yaml = self.yaml.replace("  train:\n", "  seen:\n    producer: idx_images\n"
                                      "    params: {images: FOLDER/images, labels: FOLDER/labels}\n"
                                      "    batch: 16\n  train:\n")
        self.yaml = self.yaml.replace("FOLDER", str(self.folder))
        expected = self.expected()
        accuracy = self.summary_of_training("cpu")
        self.yaml = self.yaml.replace("{train: images, test: seen}",
                                      "{train: images_there, test: seen_there}")
        self.place("to_device, params: {tensor: image}", ("images", "seen"))
        self.assertEqual(self.summary_of_training("host"), accuracy)
        self.assertEqual(self.losses(), expected)

    def summary_of_training(self, device):
        path = self.folder / "summary.json"
        finished = self.train(device, LATE, "--overwrite", "--summary", path)
        self.assertEqual(finished.code, 0, finished.err)
        return json.loads(path.read_text())["results"]["train"]

    def test_goes_on_from_its_checkpoint(self):
        expected = self.expected()
        self.place("to_device, params: {tensor: image}")
        finished = self.train("host", "fail_copy=70", "--overwrite")
        self.assertEqual(finished.code, 1, finished.err)
        self.check_goes_on_as_if_nothing_had_been(expected)


class Lost(DeviceTest):
    def test_in_the_middle_of_a_copy_the_run_ends_and_goes_on_from_its_checkpoint(self):
        expected = self.expected()
        skips = ("--set", "stages.train.on_error={skip: 400}")  # but no such thing
        for more in ((), skips):
            with self.subTest(more=more):
                finished = self.train("host", "fail_copy=100", "--overwrite", *more)
                self.assertRegex(self.failure(finished),
                                 r"^failed: samples \d+ to \d+ \(epoch 1\): device host is lost: a "
                                 "copy failed midway$")
                self.check_goes_on_as_if_nothing_had_been(expected)

    def test_killed_with_copies_under_way_it_harms_nobody(self):
        expected = self.expected()
        run = self.start_training("host", "delay_us=20000", "--overwrite", "--quiet")
        wait_until(lambda: (self.folder / "model.pt").exists() or run.ended(), "a checkpoint")
        wait_until(lambda: self.has_consumed(run, "train") or run.ended(), "samples")
        os.kill(workers_of(run.pid)["train.0"], signal.SIGKILL)
        finished = run.finish()
        self.assertEqual(finished.code, 0, finished.err)
        self.assertRegex(finished.err, "was killed by SIGKILL .* resumes from its last checkpoint")
        self.assertEqual(leftovers() - self.before, set())
        self.assertEqual(self.losses(), expected)


class Refused(DeviceTest):
    def test_what_cannot_be_is_one_line(self):
        for device in ("cuda", "cuda:3"):
            said = self.failure(self.train(device))
            self.assertRegex(said, f"^failed: device {device}: ")
        self.assertRegex(self.failure(self.train("host", "delay=1")),
                         "^failed: BRIGADE_HOST_DEVICE: expected delay_us=N, ")
        finished = self.train("cpu", "", "--set", "stages.train.pin=yes")
        self.assertEqual(finished.code, 2)
        self.assertIn("`pin: yes` needs a GPU, but this stage runs on the CPU", finished.err)
        finished = self.train("cpu", "", "--set", "stages.images.pin=no")
        self.assertIn("`pin`", finished.err)


if __name__ == "__main__":
    main()
