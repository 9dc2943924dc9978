#!/usr/bin/env python3
"""The same images from a folder, from tar archives, from a table: the same samples arrive."""

import io
import os
import shutil
import signal
import struct
import subprocess
import tarfile
import time
import unittest

from brigade_program import ProgramTest, Running, main, wait_until, workers_of

CLASSES, OF_EACH = 3, 7


def ppm(number):
    """A picture of 8 x 6 pixels, different for each number, in a format that needs no library."""
    pixels = bytes((number * 31 + i * 7) % 256 for i in range(8 * 6 * 3))
    return b"P6\n8 6\n255\n" + pixels


def png(number):
    """The same picture as PNG."""
    import zlib

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))

    pixels = ppm(number)[-8 * 6 * 3:]
    rows = b"".join(b"\0" + pixels[y * 24:(y + 1) * 24] for y in range(6))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 6, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def pictures():
    """(class, name, bytes), in the order of image_folder."""
    return [(c, f"class_{c}/picture_{i:02}", png(c * 100 + i))
            for c in range(CLASSES) for i in range(OF_EACH)]


def graph(source, more="", epochs=1):
    return f"""
seed: 3
epochs: {epochs}
stages:
  files:
    {source}
    shuffle: true
  images:
    transform: decode_image
    from: files
    params: {{crop: none, size: 0, side_max: 16}}
    keep: [label]
    {more}
  count: {{consumer: count, from: images}}
"""


class SourcesTest(ProgramTest):
    def setUp(self):
        super().setUp()
        for _, name, data in pictures():
            path = self.folder / "data" / f"{name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def results(self, source, **options):
        return self.summary(graph(source, **options))["results"]["count"]

    def of_folder(self):
        return self.results("producer: image_folder\n    params: {root: data}")

    def write_shard(self, name, samples, form=tarfile.USTAR_FORMAT, prefix=""):
        with tarfile.open(self.folder / name, "w", format=form) as archive:
            for label, key, data in samples:
                for extension, content in ((".png", data), (".cls", str(label).encode())):
                    member = tarfile.TarInfo(prefix + key + extension)
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))

    def of_shards(self, shards, more=""):
        return self.results(f"producer: tar_shards\n    params: {{shards: {shards}{more}}}")


class Sources(SourcesTest):
    def test_archives_of_every_form_give_what_the_folder_gives(self):
        expected = self.of_folder()
        self.assertEqual(expected["samples"], CLASSES * OF_EACH)
        samples = pictures()
        for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
            self.write_shard("s-00.tar", samples[:8], form)
            self.write_shard("s-01.tar", samples[8:], form)
            found = self.of_shards("'s-{00..01}.tar'")
            self.assertEqual(found["checksum"], expected["checksum"], form)
        self.assertEqual(self.of_shards("[s-00.tar, s-01.tar]")["checksum"], expected["checksum"])
        self.assertEqual(self.of_shards("'s-*.tar'")["checksum"], expected["checksum"])
        # The control: another order of archives is another order of samples, but the same set.
        swapped = self.of_shards("[s-01.tar, s-00.tar]")
        self.assertNotEqual(swapped["checksum"], expected["checksum"])

    @unittest.skipUnless(shutil.which("tar"), "tar is not installed")
    def test_archives_of_gnu_tar_are_read(self):
        expected = self.of_folder()
        for label, name, _ in pictures():
            (self.folder / "data" / f"{name}.cls").write_text(f"{label}\n")
        for form in ("ustar", "gnu", "pax", "v7"):
            subprocess.run(["tar", f"--format={form}", "--sort=name", "-cf", "gnu.tar", "-C",
                            "data", "."], cwd=self.folder, check=True)
            self.assertEqual(self.of_shards("gnu.tar")["checksum"], expected["checksum"], form)

    def test_a_table_gives_what_the_folder_gives(self):
        expected = self.of_folder()
        lines = [f"{name}.png,class {label}" for label, name, _ in pictures()]
        self.write("list.csv", "path,label\n" + "\n".join(lines) + "\n")
        found = self.results("producer: image_list\n"
                             "    params: {file: list.csv, root: data, labels: names}")
        self.assertEqual(found["checksum"], expected["checksum"])

    def test_an_index_is_made_once_and_replicas_share_it(self):
        expected = self.of_folder()
        source = ("producer: image_folder\n    params: {root: data, index: data.index}\n"
                  "    replicas: ")
        self.assertEqual(self.results(source + "3")["checksum"], expected["checksum"])
        old = time.time() - 3600  # a folder that changed just now is looked at again
        for folder in [self.folder / "data", *(self.folder / "data").iterdir()]:
            os.utime(folder, (old, old))
        self.results(source + "1")
        made = os.stat(self.folder / "data.index").st_mtime_ns
        self.assertEqual(self.results(source + "2")["checksum"], expected["checksum"])
        self.assertEqual(os.stat(self.folder / "data.index").st_mtime_ns, made)
        (self.folder / "data" / "class_1" / "zz.png").write_bytes(png(1))
        self.assertEqual(self.results(source + "2")["samples"], CLASSES * OF_EACH + 1)
        (self.folder / "data.index").write_bytes(b"BRGINDEX broken")
        self.assertEqual(self.results(source + "2")["samples"], CLASSES * OF_EACH + 1)

    def kill_the_source(self, index):
        """A run without end in which the source dies once after a file came. `limit` has it find
        as many samples as before, so that only their names tell."""
        params = f"{{root: data{', index: data.index' if index else ''}}}"
        yaml = graph(f"producer: image_folder\n    params: {params}\n"
                     f"    restart: on_failure\n    limit: {CLASSES * OF_EACH}", epochs=1_000_000)
        run = self.start_and_wait_for_samples(yaml, 3, "count")
        (self.folder / "data" / "class_1" / "a_new_one.png").write_bytes(png(1))
        os.kill(workers_of(run.pid)["files.0"], signal.SIGKILL)
        return run

    def test_a_source_that_is_started_again_and_finds_other_samples_says_so(self):
        finished = self.kill_the_source(index=False).finish()
        self.assertEqual(finished.code, 1, finished.err)
        self.assertIn("its source has different samples now than when the run began", finished.err)

    def test_with_an_index_it_goes_on_with_the_samples_of_the_beginning(self):
        run = self.kill_the_source(index=True)
        enough = self.consumed(run, "count") + 10_000  # more than the rings hold
        wait_until(lambda: self.consumed(run, "count") > enough or run.ended(), "more samples")
        run.process.send_signal(signal.SIGINT)
        finished = run.finish()
        self.assertEqual(finished.code, 130, finished.err)
        self.assertIn("was killed by SIGKILL", finished.err)


class TheMemoryOfACache(SourcesTest):
    """`brigade plan` knows it where the source can tell how many samples it has."""

    def yaml(self, source, more=""):
        return f"""
stages:
  files:
    {source}
  kept: {{transform: cache, from: files{more}}}
  count: {{consumer: count, from: kept}}
"""

    def plan(self, yaml, *options, code=0):
        run = Running(["plan", self.write("graph.yaml", yaml), *options], cwd=self.folder)
        self.runs.append(run)
        finished = run.finish()
        self.assertEqual(finished.code, code, finished.err)
        return finished.out if code == 0 else finished.err

    def grow_old(self):
        """What changed just now is looked at again by the next run."""
        old = time.time() - 3600
        for path in (*self.folder.rglob("data/**"), *self.folder.glob("*.tar")):
            os.utime(path, (old, old))

    def test_of_archives_that_are_counted_for_it(self):
        self.write_shard("s-0.tar", pictures()[:5])
        self.write_shard("s-1.tar", pictures()[5:])
        self.grow_old()
        yaml = self.yaml("producer: tar_shards\n    params: {shards: 's-{0..1}.tar', index: i}")
        self.assertIn(f": {CLASSES * OF_EACH} slots", self.plan(yaml))
        self.assertTrue((self.folder / "i").exists())
        self.assertEqual(self.summary(yaml)["samples"], CLASSES * OF_EACH)
        self.write_shard("s-1.tar", pictures()[6:])
        self.assertIn(f": {CLASSES * OF_EACH - 1} slots", self.plan(yaml))
        (self.folder / "s-1.tar").write_bytes(b"no archive" * 100)
        self.assertIn("the size of its source is unknown before the run",
                      self.plan(yaml, code=2))


if __name__ == "__main__":
    main()
