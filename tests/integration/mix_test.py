#!/usr/bin/env python3
"""Mixtures of sources of every type that reads pictures or arrays: the same for any replicas, exact
in their shares, resumed in the middle of an epoch, and only as they were."""

import struct

import idx_files
from brigade_program import main, wait_until
from configs_test import write_array
from sources_test import CLASSES, SourcesTest, pictures

DECODE = "decode_image, params: {crop: none, size: 0, side_max: 16}, keep: [label]"
KINDS = {
    "tar_shards": ("producer: tar_shards, params: {shards: a.tar}",
                   "producer: tar_shards, params: {shards: 'b-*.tar'}", DECODE),
    "image_list": ("producer: image_list, params: {file: a.csv, root: data, labels: names}",
                   "producer: image_list, params: {file: b.csv, root: data, labels: names}",
                   DECODE),
    "a folder and a list": (
        "producer: image_folder, params: {root: data}",
        "producer: image_list, params: {file: b.csv, root: data, labels: names}", DECODE),
    "npy": ("producer: npy, params: {files: {image: a.npy, label: a_labels.npy}}",
            "producer: npy, params: {files: {image: b.npy, label: b_labels.npy}}", "passthrough"),
    "idx_images": ("producer: idx_images, params: {images: a.idx3, labels: a.idx1}",
                   "producer: idx_images, params: {images: b.idx3, labels: b.idx1}",
                   "passthrough"),
}
EPOCHS, SAMPLES = 3, 40


class Mixtures(SourcesTest):
    def setUp(self):
        super().setUp()
        samples = pictures()
        parts = {"a": samples[::2], "b": samples[1::2]}
        self.write_shard("a.tar", parts["a"])
        self.write_shard("b-0.tar", parts["b"][:5])
        self.write_shard("b-1.tar", parts["b"][5:])
        for number, (name, part) in enumerate(parts.items()):
            self.write(f"{name}.csv", "path,label\n" + "".join(
                f"{path}.png,class_{label}\n" for label, path, _ in part))
            pixels = bytes((number * 100 + i) % 256 for i in range(10 * 4 * 4))
            write_array(self.folder / f"{name}.npy", "|u1", (10, 4, 4, 1), pixels)
            write_array(self.folder / f"{name}_labels.npy", "<i8", (10,),
                        struct.pack("<10q", *(i % CLASSES for i in range(10))))
            (self.folder / f"{name}.idx3").write_bytes(idx_files.images(16, seed=number + 1))
            (self.folder / f"{name}.idx1").write_bytes(idx_files.labels(16))

    def graph(self, kind, shares="first: 3, second: 1"):
        first, second, transform = KINDS[kind]
        return f"""
seed: 3
epochs: {EPOCHS}
checkpoint: {{file: run.ckpt, every: 4}}
stages:
  first: {{{first}}}
  second: {{{second}}}
  mixed: {{mix: {{{shares}}}, shuffle: true, samples: {SAMPLES}}}
  made: {{transform: {transform}, from: mixed}}
  count: {{consumer: count, from: {{stage: made, batch: 4}}, params: {{sleep_ms: 0}}}}
"""

    def begin_anew(self):
        for path in self.folder.glob("run.ckpt*"):
            path.unlink()

    def stop_in_the_middle(self, yaml):
        """A consumer that would take a minute, killed after its first checkpoint."""
        run = self.start(yaml, "--quiet", "--overwrite", "--set",
                         "stages.count.params.sleep_ms=2000")
        wait_until(lambda: (self.folder / "run.ckpt").exists() or run.ended(), "a checkpoint")
        self.assertFalse(run.ended())
        run.process.kill()
        run.finish()

    def test_run_and_go_on_where_they_were(self):
        for kind in KINDS:
            with self.subTest(kind):
                yaml = self.graph(kind)
                whole = self.summary(yaml)
                self.assertEqual(whole["results"]["count"]["samples"], EPOCHS * SAMPLES)
                self.begin_anew()
                self.stop_in_the_middle(yaml)
                rest = self.summary(yaml, "--resume", "--set", "stages.mixed.replicas=2",
                                    "--set", "stages.made.replicas=3")
                self.assertEqual(rest["results"], whole["results"])
                made = {stage["name"]: stage["samples"] for stage in rest["stages"]}
                self.assertLess(made["count"], EPOCHS * SAMPLES, "it began anew")
                self.begin_anew()
                other = self.summary(self.graph(kind, "first: 1, second: 3"))  # the control
                self.begin_anew()
                self.assertEqual(other["results"]["count"]["samples"], EPOCHS * SAMPLES)
                self.assertNotEqual(other["results"]["count"]["checksum"],
                                    whole["results"]["count"]["checksum"])

    def test_with_another_mixture_are_not_resumed(self):
        for kind in ("tar_shards", "a folder and a list", "npy"):
            with self.subTest(kind):
                yaml = self.graph(kind)
                self.stop_in_the_middle(yaml)
                for other in (self.graph(kind, "first: 1, second: 1"),
                              self.graph(kind, "first: 3, second: 0"),
                              yaml.replace(f"samples: {SAMPLES}", f"samples: {SAMPLES + 4}")):
                    finished = self.run_graph(other, "--quiet", "--resume")
                    self.assertNotEqual(finished.code, 0)
                    self.assertEqual(len(finished.errors()), 1, finished.err)
                    self.assertIn("mixed", finished.errors()[0])
                self.summary(yaml, "--resume")  # the control
                self.begin_anew()

    def test_of_other_archives_are_not_resumed(self):
        yaml = self.graph("tar_shards")
        self.stop_in_the_middle(yaml)
        self.write_shard("b-2.tar", [(0, "a/more", pictures()[0][2])])
        finished = self.run_graph(yaml, "--quiet", "--resume")
        self.assertEqual(finished.code, 1, finished.err)
        self.assertIn("at the checkpoint; restore them, or restart from scratch",
                      finished.errors()[0])
        (self.folder / "b-2.tar").unlink()
        self.summary(yaml, "--resume")  # the control

    def test_of_producers_that_give_other_tensors_are_refused(self):
        yaml = self.graph("tar_shards").replace(KINDS["tar_shards"][1], KINDS["image_list"][1])
        finished = self.run_graph(yaml, "--quiet")
        self.assertEqual(finished.code, 2, finished.err)
        self.assertIn("`mix:` needs the same tensors from each", finished.err)


if __name__ == "__main__":
    main()
