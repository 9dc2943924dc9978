#!/usr/bin/env python3
"""Runs over tar archives: stopped in the middle of an epoch and resumed, and archives that change
while they are read."""

import os
import re

import sources_test
from brigade_program import main, wait_until
from sources_test import graph, png


class Archives(sources_test.SourcesTest):
    """Three archives, read in one shuffled order."""

    EACH = 20

    def setUp(self):
        super().setUp()
        for shard in range(3):
            self.write_shard(f"s-{shard}.tar", self.samples(shard))
        self.checkpoint = self.folder / "run.ckpt"
        self.yaml = graph("producer: tar_shards\n    params: {shards: 's-{0..2}.tar'}").replace(
            "{consumer: count, from: images}",
            "{consumer: count, from: {stage: images, batch: 4}, params: {sleep_ms: 0}}")

    def samples(self, shard):
        """(label, key, bytes)"""
        return [(i, f"{shard}/picture_{i:02}", png(100 * shard + i)) for i in range(self.EACH)]

    def stop_in_the_middle(self):
        """A consumer that would take half a minute for the epoch, ended after its first checkpoint;
        what lies in the rings is lost."""
        run = self.start(self.yaml, "--quiet", "--overwrite", "--set",
                         "stages.count.params.sleep_ms=2000")
        wait_until(lambda: self.checkpoint.exists() or run.ended(), "a checkpoint")
        self.assertFalse(run.ended())
        run.process.kill()
        run.finish()


class ArchivesThatAreResumed(Archives):
    def setUp(self):
        super().setUp()
        self.yaml += f"checkpoint: {{file: {self.checkpoint}, every: 4}}\n"

    def test_an_epoch_in_two_parts_is_the_epoch(self):
        whole = self.summary(self.yaml)
        self.assertEqual(whole["results"]["count"]["samples"], 3 * self.EACH)
        for path in self.folder.glob("run.ckpt*"):
            path.unlink()
        self.stop_in_the_middle()
        rest = self.summary(self.yaml, "--resume", "--set", "stages.files.replicas=2",
                            "--set", "stages.images.replicas=3")
        self.assertEqual(rest["results"], whole["results"])
        made = {stage["name"]: stage["samples"] for stage in rest["stages"]}
        self.assertLess(made["count"], 3 * self.EACH, "it began anew")

    def refused(self):
        finished = self.run_graph(self.yaml, "--quiet", "--resume")
        self.assertEqual(finished.code, 1, finished.err)
        self.assertEqual(len(finished.errors()), 1, finished.err)
        return finished.errors()[0]

    def test_an_archive_that_was_replaced_is_refused(self):
        self.stop_in_the_middle()
        before = (self.folder / "s-1.tar").read_bytes()
        more = [*self.samples(1), (0, "1/picture_99", png(1))]
        self.write_shard("s-1.tar", more)
        self.assertIn("its source has 61 samples, but had 60 at the checkpoint; restore "
                      "them, or restart from scratch", self.refused())
        other_label = [(9, *sample[1:]) if i == 3 else sample
                       for i, sample in enumerate(self.samples(1))]
        self.write_shard("s-1.tar", other_label)
        self.assertIn("its source has different samples now than at the checkpoint; restore "
                      "them, or restart from scratch", self.refused())
        (self.folder / "s-1.tar").write_bytes(before)  # the control
        self.summary(self.yaml, "--resume")


class ArchivesThatChangeWhileTheyAreRead(Archives):
    """A run without end, in which every picture is read again and again. With an index, what is
    gone still has its name."""

    def after(self, change, policy):
        yaml = self.yaml.replace("epochs: 1", "epochs: 1000000").replace(
            "keep: [label]", f"keep: [label]\n    on_error: {policy}")
        run = self.start_and_wait_for_samples(yaml, 3, "count")
        change(self.folder / "s-1.tar")
        return run.finish()

    def check(self, change, cause):
        whole = (self.folder / "s-1.tar").read_bytes()
        finished = self.after(change, "stop")
        self.assertEqual(finished.code, 1, finished.err)
        self.assertRegex(finished.errors()[0], f"s-1.tar at byte [0-9]+: {cause}")
        self.yaml = self.yaml.replace("{shards:", "{index: i, shards:")
        for policy, skipped in (("stop", 0), ("{skip: 3}", 3)):  # the fourth is one too many
            (self.folder / "s-1.tar").write_bytes(whole)
            finished = self.after(change, policy)
            self.assertEqual(finished.code, 1, finished.err)
            named = [line for line in finished.err.splitlines() if "images: skipped" in line]
            # Samples, not lines: epochs that overlap may skip one of them twice.
            samples = {re.search("[(]id ([0-9]+) of epoch", line)[1] for line in named}
            self.assertEqual(len(samples), skipped, finished.err)
            for line in [*named, finished.errors()[0]]:
                self.assertRegex(line, 's-1.tar: 1/picture_[0-9]+.png"')
                self.assertRegex(line, f"s-1.tar at byte [0-9]+: {cause}")

    def test_one_that_vanishes_is_named(self):
        def vanish(path):
            path.rename(path.with_suffix(".away"))

        self.check(vanish, "cannot open: No such file or directory")

    def test_one_that_is_cut_off_is_named(self):
        self.check(lambda path: os.truncate(path, 512), "(bytes [0-9]+ to .* are outside the file|"
                   "the file became shorter while it was read)")


if __name__ == "__main__":
    main()
