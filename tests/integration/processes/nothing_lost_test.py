#!/usr/bin/env python3
"""What a run does not give is said: standard input of workers, members of archives that are no
samples."""

import gzip
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import brigade_program
from brigade_program import ProgramTest, main


def archive(path, members):
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as shard:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            shard.addfile(info, io.BytesIO(data))


class Sources(ProgramTest):
    LISTING = ("stages:\n  files: {producer: tar_shards, params: {shards: s.tar}}\n"
               "  count: {consumer: count, from: files}\n")

    def planned(self, yaml, *options):
        return subprocess.run(
            [brigade_program.PROGRAM, "plan", yaml, "--limit", "4", *options],
            cwd=self.folder, capture_output=True, text=True, timeout=60, check=True).stdout

    def test_standard_input_is_refused_since_a_worker_has_none(self):
        text = ("stages:\n  text: {producer: lines, params: {file: pipe}}\n"
                "  count: {consumer: count, from: text}\n")
        yaml = self.write("lines.yaml", text)
        numbers = "".join(f"{i}\n" for i in range(1000))
        os.symlink("/dev/stdin", self.folder / "input")
        for name in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "-", self.folder / "input"):
            for command in ("check", "run"):
                done = subprocess.run(
                    [brigade_program.PROGRAM, command, yaml, "--set",
                     f"stages.text.params.file={name}"],
                    input=numbers, capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("create a named pipe (`mkfifo FILE`)", done.stderr)
        # The way that the message names.
        os.mkfifo(self.folder / "pipe")
        with subprocess.Popen(["sh", "-c", "seq 1000 > pipe"], cwd=self.folder) as writer:
            try:
                summary = self.summary(text)
            finally:
                writer.kill()
        self.assertEqual(summary["results"]["count"]["samples"], 1000)
        self.assertEqual(summary["sources"],
                         [{"name": "text", "found": None, "gives": None, "skipped": []}])

    def test_members_of_other_names_are_counted(self):
        members = []
        for i in range(10):
            members += [(f"{i:02}.jpg", b"x"), (f"{i:02}.cls", b"1")]
        for i in range(10, 40):
            members += [(f"{i:02}.image.jpg", b"x"), (f"{i:02}.label.cls", b"1")]
        archive(self.folder / "s.tar", members)
        why = ('keys with neither image nor label; `image: [jpg, image.jpg]`, `label: '
               'cls;label.cls` reads them')
        text = f'found 40, outputs 10, skipped 30: 30 {why}'
        finished = self.run_graph(self.LISTING)
        self.assertEqual(finished.code, 0, finished.err)
        self.assertIn(f"warning: source files: {text}", finished.err)
        self.assertIn(f"  source files: {text}\n", finished.out)
        quiet = self.run_graph(self.LISTING, "--quiet", "--limit", "4")
        self.assertIn("found 40, outputs 4, skipped 36: 6 omitted by `limit:`, 30 keys", quiet.err)
        summary = self.summary(self.LISTING, "--limit", "4")
        self.assertEqual(summary["sources"], [{
            "name": "files", "found": 40, "gives": 4, "skipped": [
                {"count": 6, "why": "limit", "text": "omitted by `limit:`"},
                {"count": 30, "why": "no_match", "text": why}]}])
        # The plan says the same, whether it counts the archive itself or an index tells.
        archive_time = os.stat(self.folder / "s.tar").st_mtime - 3600
        os.utime(self.folder / "s.tar", (archive_time, archive_time))
        text = self.LISTING.replace("s.tar", "s.tar, index: s.index")
        yaml = self.write("plan.yaml", text)
        for indexed in (False, True):
            shown = self.planned(yaml)
            report = json.loads(self.planned(yaml, "--json"))
            self.assertIn("samples per epoch\n  files  4 of 40: 6 omitted by `limit:`, 30 keys",
                          shown)
            self.assertEqual(report["sources"], summary["sources"])
            self.assertEqual(report["consumers"], [
                {"name": "count", "from": "files", "samples": 4, "batches": None,
                 "unknown": ""}])
            if not indexed:
                self.assertEqual(self.run_graph(text, "--quiet").code, 0)
        # What the line says reads them.
        said = self.LISTING.replace("s.tar", "s.tar, image: [jpg, image.jpg], label: "
                                    "cls;label.cls")
        self.assertEqual(self.summary(said)["sources"][0]["gives"], 40)
        # Of others, what would read some, and their names.
        archive(self.folder / "s.tar", [*members[:22], ("x.y.txt", b"x")])
        mixed = self.run_graph(self.LISTING)
        self.assertIn("skipped 2: 2 keys with neither image nor label; `image: [jpg, image.jpg]`, "
                      "`label: cls;label.cls` reads 1 of them; also found: y.txt\n", mixed.err)
        # The control: nothing is skipped, and nothing is said.
        archive(self.folder / "s.tar", members[:20])
        whole = self.run_graph(self.LISTING)
        self.assertNotIn("skipped", whole.err + whole.out)

    def test_members_that_nobody_reads_are_named_once(self):
        for shard in range(2):
            archive(self.folder / f"s-{shard}.tar", [
                (f"{shard}{i}.{end}", b"1") for i in range(5)
                for end in ("jpg", "cls", "json", "txt")])
        text = self.LISTING.replace("s.tar", "'s-{0..1}.tar'")
        said = ("files: ignores the members .json, .txt of its keys; `extra: [json, txt]` outputs "
                "their bytes\n")
        text = text.replace("tar_shards,", "tar_shards, replicas: 2,")
        loud = self.run_graph(text)
        self.assertEqual(loud.code, 0, loud.err)
        self.assertEqual(loud.err.count("files: ignores the members"), 1, loud.err)
        self.assertIn(said, loud.err)
        self.assertNotIn("ignores the members", loud.out)
        self.assertNotIn("skipped", loud.err)
        quiet = self.run_graph(text, "--quiet")
        self.assertEqual(quiet.code, 0, quiet.err)
        self.assertNotIn("ignores the members", quiet.err + quiet.out)
        # The control: what the line says reads them.
        asked = self.run_graph(text.replace("tar'", "tar', extra: [json, txt]"))
        self.assertEqual(asked.code, 0, asked.err)
        self.assertNotIn("ignores the members", asked.err)

    def checked_and_run(self, text, members=None):
        """What both say."""
        if members is not None:
            archive(self.folder / "s.tar", members)
        yaml = self.write("checked.yaml", text)
        said = []
        for command in ("check", "run"):
            done = subprocess.run([brigade_program.PROGRAM, command, yaml], capture_output=True,
                                  text=True, timeout=brigade_program.SECONDS_MAX, check=False)
            said.append((done.returncode, done.stderr))
        return said

    def test_check_refuses_archives_that_no_run_can_read(self):
        def keys(count, image="jpg", label="cls", text=b"1"):
            return [member for i in range(count)
                    for member in ((f"{i:03}.{image}", b"x"), (f"{i:03}.{label}", text))]

        def refused(text, members, message):
            (checked, said), (ran, failed) = self.checked_and_run(text, members)
            self.assertEqual((checked, ran), (2, 1), said + failed)
            self.assertIn(f'checked.yaml:2:3: error: stage "files": {self.folder}/s.tar: {message}',
                          said)
            self.assertIn(f"{self.folder}/s.tar: {message}", failed)

        def passes(text, members, code=0):
            (checked, said), (ran, failed) = self.checked_and_run(text, members)
            self.assertEqual((checked, ran), (0, code), said + failed)

        none = ("found no samples; expected members such as KEY.jpg and KEY.cls, found 32 keys "
                "with neither image nor label; extensions found: image.jpg, label.cls; `image: "
                "[image.jpg]`, `label: label.cls` reads them\n")
        refused(self.LISTING, keys(32, "image.jpg", "label.cls"), none)
        words = '000.cls: expected a whole number, found "dog"; write `labels: names` if '
        words += "labels are names\n"
        refused(self.LISTING, keys(50, text=b"dog"), words)
        # What the lines say helps.
        passes(self.LISTING.replace("s.tar", "s.tar, labels: names"), None)
        passes(self.LISTING.replace("s.tar", "s.tar, image: [image.jpg], label: label.cls"),
               keys(50, "image.jpg", "label.cls"))
        # Where a member further behind may fit, or a label may not be read, it is the run's.
        late = [("z.jpg", b"x"), ("z.cls", b"1")]
        passes(self.LISTING, keys(50, "image.jpg", "label.cls") + late)
        passes(self.LISTING, keys(33, "image.jpg", "label.cls"), code=1)
        some = [("a.jpg", b"x"), ("a.cls", b"dog"), *keys(3)]
        passes(self.LISTING.replace("tar_shards,", "tar_shards, skip: 1,"), some)
        passes(self.LISTING.replace("tar_shards,", "tar_shards, on_error: {skip: 1},"), None)
        refused(self.LISTING, some, "a" + words[3:])
        (self.folder / "s.tar").write_bytes(gzip.compress((self.folder / "s.tar").read_bytes()))
        refused(self.LISTING, None, "is compressed (gzip) and does not allow random access")


if __name__ == "__main__":
    main()
