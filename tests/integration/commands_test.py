#!/usr/bin/env python3
"""What a user does in the first hour: `init`, `check`, `sample`, completions and help."""

import gzip
import json
import pathlib
import re
import shutil
import struct
import subprocess
import tarfile
import zlib

from brigade_program import ProgramTest, Running, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
FASHION_MNIST = pathlib.Path("/usr/share/datasets/fashion-mnist")
GRAPH = ROOT / "configs" / "fashion_mnist.yaml"


def png_pixels(path):
    """(width, height, bytes) of a grey picture, as `brigade sample` writes it."""
    data, at, packed, shape = path.read_bytes(), 8, b"", None
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body)
        if kind == b"IHDR":
            shape = struct.unpack(">IIBB", body[:10])
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    width, height, depth, colour = shape
    assert (depth, colour) == (8, 0)
    rows = zlib.decompress(packed)
    assert len(rows) == height * (width + 1)
    lines = [rows[y * (width + 1):(y + 1) * (width + 1)] for y in range(height)]
    assert all(line[0] == 0 for line in lines), "a filter that this test does not know"
    return width, height, b"".join(line[1:] for line in lines)


class Commands(ProgramTest):
    def brigade(self, *arguments, code=0, **options):
        environment = {"TMPDIR": str(self.temporary), **options.pop("environment", {})}
        self.runs.append(Running(arguments, environment=environment, cwd=self.folder, **options))
        finished = self.runs[-1].finish()
        self.assertEqual(finished.code, code, finished.err)
        return finished

    def rows_of(self, folder):
        lines = (folder / "samples.tsv").read_text().splitlines()
        names = lines[0].split("\t")
        return [dict(zip(names, line.split("\t"))) for line in lines[1:]]

    # --- init

    def test_init_knows_a_folder_of_idx_files(self):
        self.torch_module()
        said = self.brigade("init", FASHION_MNIST, "--out", "mine.yaml").out
        self.assertIn("found IDX files (train-images-idx3-ubyte.gz", said)
        self.assertIn("`brigade run mine.yaml` runs it", said)
        text = (self.folder / "mine.yaml").read_text()
        self.assertIn("producer: idx_images", text)
        self.assertGreater(text.count("# "), 8, "it is commented")
        self.brigade("check", "mine.yaml")

    def test_init_of_a_project_says_what_it_needs_and_overwrites_nothing(self):
        self.assertIn("wrote mine/mine_test.cpp\n", self.brigade("init", "stage", "mine").out)
        self.brigade("check", "mine/mine.yaml", code=2)  # its plugin is not built
        for words, says in ((("stage",), "expected a name: `brigade init stage NAME`"),
                            (("stages", "mine"), "expected `stage` or `program` before the name"),
                            (("program", "My"), "expected a name of small letters"),
                            (("program", "mine"), "mine already exists")):
            self.assertIn(says, self.brigade("init", *words, code=2).err)
        self.assertFalse((self.folder / "mine" / "main.cpp").exists())

    def test_init_of_folders_of_classes_trains_and_evaluates(self):
        self.torch_module()
        photos = self.folder / "photos"
        for part, count in (("train", 8), ("val", 4)):
            for kind in ("coat", "shirt"):
                self.brigade("sample", GRAPH, "--stage", "images", "-n", count, "--out",
                             photos / part / kind)
                (photos / part / kind / "samples.tsv").unlink()
        said = self.brigade("init", "photos").out
        self.assertIn(f"found images of 2 classes (coat, shirt) in {photos}/train; for evaluation: "
                      "val\n", said)
        self.brigade("check", "photos.yaml")
        run = self.brigade("run", "photos.yaml", "--summary", "summary.json", "--set", "epochs=2")
        summary = json.loads((self.folder / "summary.json").read_text())
        self.assertEqual(summary["samples"], 2 * (16 + 8))
        self.assertIn("accuracy", run.out)
        for data in (photos / "train", "photos"):  # nothing is left to evaluate on
            said = self.brigade("init", data, "--out", "alone.yaml").out
            self.assertEqual("found no folder val next to train\n" in said, data == "photos")
            self.assertIn("`split:` sets 10 % of the data aside for evaluation\n", said)
            self.assertIn("alone.yaml: ok", self.brigade("check", "alone.yaml").out)
            self.assertEqual((self.folder / "alone.yaml").read_text().count("\n    part: "), 2)
            (self.folder / "alone.yaml").unlink()
            shutil.rmtree(photos / "val", ignore_errors=True)

    def write_pictures(self, count):
        self.brigade("sample", GRAPH, "--stage", "images", "-n", count, "--out", "photos")
        (self.folder / "photos" / "samples.tsv").unlink()
        return sorted((self.folder / "photos").glob("*.png"))

    def write_shard(self, name, pictures, labels):
        path = self.folder / "shards" / name
        path.parent.mkdir(exist_ok=True)
        with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as shard:
            for number, (picture, label) in enumerate(zip(pictures, labels)):
                shard.add(picture, f"{number}.png")
                self.write("label", str(label))
                shard.add(self.folder / "label", f"{number}.cls")

    def write_list(self, name, pictures, labels):
        self.write(name, "picture,breed\n" + "".join(
            f"photos/{picture.name},{label}\n" for picture, label in zip(pictures, labels)))

    def init_and_run(self, data, trains):
        """What `init` says of it, and the results of an epoch of the graph."""
        said = self.brigade("init", data, "--out", "read.yaml").out
        small = ["stages.decode.params.size=32"]
        if trains:
            small += [f"stages.test_decode.params.{key}=32" for key in ("size", "resize")]
        self.brigade("run", "read.yaml", "--summary", "summary.json", "--set", "epochs=1",
                     *(word for one in small for word in ("--set", one)))
        (self.folder / "read.yaml").unlink()
        return said, json.loads((self.folder / "summary.json").read_text())["results"]

    def test_init_of_archives_and_lists_trains_and_evaluates(self):
        self.torch_module()
        pictures = self.write_pictures(20)
        self.write_shard("train-0.tar", pictures[:12], [0, 1, 2] * 4)
        self.write_list("list.csv", pictures, ["coat", "shirt"] * 10)
        for data, names, found in (
                ("shards", [], "tar archives (train-0.tar, labels: cls) of 3 classes\n"),
                ("list.csv", ["accuracy of coat", "accuracy of shirt"],
                 "a list of images (list.csv: column picture, labels: breed) of 2 "
                 "classes (coat, shirt)\n")):
            said, results = self.init_and_run(data, trains=True)
            self.assertIn(f"found {found}", said)
            self.assertIn("`split:` sets 10 % of the data aside for evaluation\n", said)
            self.assertEqual(results["train"]["samples"], 12 if data == "shards" else 20)
            self.assertIn("accuracy", results["train"])
            self.assertEqual([key for key in results["train"] if key.startswith("accuracy of ")],
                             names)
        self.write_shard("val-0.tar", pictures[12:], [0, 1, 2, 0])
        said, results = self.init_and_run("shards", trains=True)
        self.assertIn("of 3 classes; for evaluation: val-0.tar\n", said)
        self.assertEqual(results["train"]["samples"], 12 + 4)
        self.write_shard("val-0.tar", pictures[12:], [0, 7])
        said, results = self.init_and_run("shards", trains=True)
        self.assertIn("val-0.tar is not used for evaluation: its labels go up to 7\n", said)
        self.assertEqual(results["train"]["samples"], 12)

    def test_init_evaluates_on_a_table_that_has_the_same_classes(self):
        self.torch_module()
        pictures = self.write_pictures(8)
        self.write_list("train.csv", pictures, ["coat", "shirt"] * 4)
        self.write_list("test.csv", pictures, ["shirt", "coat"])
        said, results = self.init_and_run(".", trains=True)
        self.assertIn("of 2 classes (coat, shirt); for evaluation: test.csv\n", said)
        self.assertEqual(results["train"]["samples"], 8 + 2)
        self.write_list("test.csv", pictures, ["shirt", "coat", "hat"])
        said, _ = self.init_and_run(".", trains=True)
        self.assertIn("test.csv is not used for evaluation: its classes differ: ", said)
        self.assertIn("hat", said)

    def test_init_divides_nothing_that_leaves_a_part_empty(self):
        self.torch_module()
        *pictures, last = self.write_pictures(6)
        self.write_list("list.csv", pictures, [0, 1, 0, 1, 0])
        self.write_shard("train-0.tar", pictures, [0, 1, 0, 1, 0])
        for number, picture in enumerate(pictures):
            kind = self.folder / "few" / f"kind {number % 2}"
            kind.mkdir(parents=True, exist_ok=True)
            shutil.copy(picture, kind)
        for data in ("list.csv", "shards", "few"):
            said, results = self.init_and_run(data, trains=False)
            self.assertIn("the graph only counts batches: 5 samples are too few to set 10 % aside "
                          "for evaluation; 6 are enough\n", said)
            self.assertNotIn("split:", said)
            self.assertEqual(results["count"]["samples"], 5)
        shutil.copy(last, self.folder / "few" / "kind 1")  # the control
        said = self.brigade("init", "few").out
        self.assertIn("`split:` sets 10 % of the data aside for evaluation\n", said)
        self.assertIn("few.yaml: ok", self.brigade("check", "few.yaml").out)
        (self.folder / "few" / "kind 1" / last.name).unlink()
        for command in ("check", "run"):
            refused = self.brigade(command, "few.yaml", code=2).err
            self.assertIn('error: stage "test_images": its source has 5 samples, but `skip:` '
                          "and `split:` leave none of them\n", refused)

    def test_init_says_why_a_graph_only_counts(self):
        pictures = self.write_pictures(6)
        self.assertIn("has images, but no class folders",
                      self.brigade("init", "photos", code=2).err)
        self.write("images.txt", "".join(f"{picture}\n" for picture in pictures))
        said, results = self.init_and_run("images.txt", trains=False)
        self.assertIn("found a list of images (images.txt: column 1, no labels)\n"
                      "the graph only counts batches: the data has no labels\n", said)
        self.assertEqual(results["count"]["samples"], 6)
        self.torch_module()
        self.write_shard("a.tar", pictures, [3, -1, 3, 3, 3, 3])
        said, results = self.init_and_run("shards", trains=False)
        self.assertIn("the graph only counts batches: the number of classes is unknown: expected "
                      "class numbers from 0 to 999,999, found the label -1; ", said)
        self.assertEqual(results["count"]["samples"], 6)

    # --- sample

    def test_samples_are_the_pictures_of_the_data_set(self):
        folder = self.folder / "look"
        self.brigade("sample", GRAPH, "--stage", "images", "-n", 5, "--out", folder)
        with gzip.open(FASHION_MNIST / "train-images-idx3-ubyte.gz") as file:
            images = file.read()
        with gzip.open(FASHION_MNIST / "train-labels-idx1-ubyte.gz") as file:
            labels = file.read()
        rows = self.rows_of(folder)
        self.assertEqual([row["number"] for row in rows], list("01234"))
        for row in rows:
            sample = int(row["id"])
            width, height, pixels = png_pixels(folder / row["image"])
            self.assertEqual((width, height), (28, 28))
            self.assertEqual(pixels, images[16 + sample * 784:16 + (sample + 1) * 784])
            self.assertEqual(int(row["label"]), labels[8 + sample])

    # --- docs

    def test_docs_prints_the_pages_that_messages_name(self):
        listed = self.brigade("docs").out
        self.assertRegex(listed, r"(?m)^  TUTORIAL +[A-Z]")
        self.assertEqual(self.brigade("docs", "TUTORIAL").out,
                         (ROOT / "docs" / "TUTORIAL.md").read_text())
        for name in ("tutorial", "docs/TUTORIAL.md"):
            self.assertEqual(self.brigade("docs", name).out, self.brigade("docs", "TUTORIAL").out)
        self.assertIn('there is no page "TUTRIAL"; did you mean TUTORIAL?',
                      self.brigade("docs", "TUTRIAL", code=2).err)
        named = set()
        for folder in ("base", "device", "stages", "pipeline", "transports", "python/brigade"):
            for file in (ROOT / folder).rglob("*.*"):
                if file.suffix in (".cpp", ".cu", ".h", ".py"):
                    text = re.sub(r'"\s*"', "", file.read_text())  # as it is printed
                    named |= set(re.findall(r"`brigade docs (\w+)`", text))
        self.assertLessEqual({"AUGMENTATION", "GPU", "STAGES"}, named)
        for name in named - {"PAGE"}:
            self.assertIn(f"  {name} ", listed)

    # --- help, doctor, completions

    def commands(self):
        """Those of the help."""
        listed = self.brigade("--help").out.split("Subcommands:\n")[1]
        found = re.findall(r"^  (\w+) ", listed, re.M)
        self.assertLessEqual({"run", "check", "init", "completions"}, set(found))
        return found

    def test_every_command_teaches_by_example(self):
        self.assertIn("brigade run train.yaml", self.brigade("--help").out)
        for command in self.commands():
            text = self.brigade(command, "--help").out
            self.assertIn(f"Usage: brigade {command}", text)
            self.assertRegex(text, rf"\nExamples?:\n  .*brigade {command}")
            self.assertEqual(self.brigade("help", command).out, text)
            self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_bash_completes_commands_flags_and_stage_types(self):
        script = self.write("completions.bash", self.brigade("completions", "bash").out)

        def completed(*words):
            command = (f"source {script}; COMP_WORDS=({' '.join(map(repr, words))}); "
                       f"COMP_CWORD={len(words) - 1}; _brigade; echo \"${{COMPREPLY[@]}}\"")
            ran = subprocess.run(["bash", "--norc", "-c", command], capture_output=True, text=True,
                                 check=True)
            self.assertEqual(ran.stderr, "")
            return ran.stdout.split()

        self.assertEqual(completed("brigade", "ch"), ["check"])
        self.assertEqual(set(completed("brigade", "")), set(self.commands()))
        self.assertEqual(completed("brigade", "run", "--su"), ["--summary"])
        self.assertEqual(completed("brigade", "run", ""), [], "the shell completes files")
        self.assertEqual(completed("brigade", "stages", "augment_"), ["augment_image"])
        self.assertEqual(completed("brigade", "graph", "x.yaml", "--format", "d"), ["dot"])
        self.assertEqual(completed("brigade", "completions", ""), ["bash", "zsh", "fish"])


if __name__ == "__main__":
    main()
