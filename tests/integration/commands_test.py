#!/usr/bin/env python3
"""What a user does in the first hour: `init`, `check`, `plan`, `graph`, `sample`, completions and
help; and files that are no graphs."""

import gzip
import json
import os
import pathlib
import random
import struct
import subprocess
import xml.etree.ElementTree
import zlib

import brigade_program
from brigade_program import ProgramTest, Running, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
FASHION_MNIST = pathlib.Path("/usr/share/datasets/fashion-mnist")
GRAPH = ROOT / "configs" / "fashion_mnist.yaml"
COMMANDS = ("run", "check", "plan", "graph", "stages", "sample", "init", "holders", "doctor",
            "completions")


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
        said = self.brigade("init", FASHION_MNIST, "--out", "mine.yaml").out
        self.assertIn("found IDX files (train-images-idx3-ubyte.gz", said)
        self.assertIn("`brigade run mine.yaml` runs it", said)
        text = (self.folder / "mine.yaml").read_text()
        self.assertIn("producer: idx_images", text)
        self.assertGreater(text.count("# "), 8, "it is commented")
        self.brigade("check", "mine.yaml")

    def test_init_of_other_folders_writes_a_graph_that_runs(self):
        for name, file in (("pictures", "a.jpg"), ("unknown", "a.xyz"), ("empty", None)):
            data = self.folder / name
            data.mkdir()
            if file:
                (data / file).write_bytes(b"x")
            said = self.brigade("init", name).out
            self.assertIn("found ", said)
            self.brigade("check", f"{name}.yaml")
            if "producer: synthetic" in (self.folder / f"{name}.yaml").read_text():
                self.assertIn("makes samples up", said)
                self.brigade("run", f"{name}.yaml", "--quiet", "--limit", 10)

    def test_init_of_a_folder_of_images_decodes_them(self):
        for kind in ("coat", "shirt"):
            self.brigade("sample", GRAPH, "--stage", "images", "-n", 4, "--out", f"photos/{kind}")
            (self.folder / "photos" / kind / "samples.tsv").unlink()
        self.assertIn("found images\n", self.brigade("init", "photos").out)
        self.assertIn("transform: decode_image", (self.folder / "photos.yaml").read_text())
        self.brigade("check", "photos.yaml")
        self.brigade("run", "photos.yaml", "--summary", "summary.json", "--set", "epochs=1",
                     "--set", "stages.decode.params.size=32")
        summary = json.loads((self.folder / "summary.json").read_text())
        self.assertEqual(summary["samples"], 8)
        self.brigade("sample", "photos.yaml", "--stage", "decode", "-n", 2, "--out", "decoded",
                     "--set", "stages.decode.params.size=32")
        self.assertEqual([row["image"] for row in self.rows_of(self.folder / "decoded")],
                         ["000000_image.png", "000001_image.png"])

    def test_init_keeps_what_is_there_and_says_what_is_not(self):
        self.write("mine.yaml", "mine")
        said = self.brigade("init", ".", "--out", "mine.yaml", code=2).err
        self.assertIn("is there already", said)
        self.assertEqual((self.folder / "mine.yaml").read_text(), "mine")
        self.assertIn("No such file", self.brigade("init", "nowhere", code=2).err)
        self.assertIn("Not a directory", self.brigade("init", "mine.yaml", code=2).err)

    # --- plan, graph, stages

    def test_the_plan_of_the_effective_form_is_the_plan(self):
        first = json.loads(self.brigade("plan", GRAPH, "--json").out)
        path = self.write("effective.yaml", self.brigade("plan", GRAPH, "--yaml").out)
        second = json.loads(self.brigade("plan", path, "--json").out)
        self.assertEqual({**first, "file": ""}, {**second, "file": ""})
        self.assertNotEqual(first["stages"], [])

    def test_the_plan_says_what_will_run_and_what_it_takes(self):
        text = self.brigade("plan", GRAPH).out
        for part in ("5 processes", "samples per task", "being written by augment",
                     "being read by train", "control segment", "in all"):
            self.assertIn(part, text)

    def test_graphs_are_drawn_in_three_ways(self):
        self.assertIn("augment_image x 2", self.brigade("graph", GRAPH).out)
        dot = self.brigade("graph", GRAPH, "--format", "dot").out
        self.assertTrue(dot.startswith("digraph") and dot.rstrip().endswith("}"), dot)
        picture = xml.etree.ElementTree.fromstring(
            self.brigade("graph", GRAPH, "--format", "svg").out)
        words = " ".join(picture.itertext())
        for stage in ("images", "augment", "test_images", "train"):
            self.assertIn(stage, words)

    def test_stages_are_listed_and_explained(self):
        for name in ("synthetic", "idx_images", "augment_image", "count", "torch_classifier"):
            self.assertIn(f"  {name}", self.brigade("stages").out)
            self.assertIn("example", self.brigade("stages", name).out)
        self.assertIn("oversubscribe", self.brigade("stages", "--keys").out)
        self.assertIn("definitions", json.loads(self.brigade("stages", "--json-schema").out))

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

    def test_samples_of_a_later_stage_are_what_it_made(self):
        for out in ("first", "second"):
            self.brigade("sample", GRAPH, "--stage", "augment", "-n", 8, "--out", out,
                         "--set", "stages.augment.params={pad: 0, crop: 20, flip: 1}")
        rows = self.rows_of(self.folder / "first")
        self.assertEqual(rows, self.rows_of(self.folder / "second"), "the same every time")
        for row in rows:
            self.assertEqual(png_pixels(self.folder / "first" / row["image"])[:2], (20, 20))

    def test_what_is_no_picture_becomes_npy(self):
        self.brigade("sample", ROOT / "configs" / "hello.yaml", "--stage", "numbers", "-n", 2,
                     "--out", "npy")
        row = self.rows_of(self.folder / "npy")[1]
        data = (self.folder / "npy" / row["data"]).read_bytes()
        self.assertTrue(data.startswith(b"\x93NUMPY\x01\x00"))
        header, = struct.unpack("<H", data[8:10])
        self.assertIn(b"'descr': '<f4', 'fortran_order': False, 'shape': (16, )",
                      data[:10 + header])
        self.assertEqual(struct.unpack("<16f", data[10 + header:]), (1.0,) * 16)

    # --- help, doctor, completions

    def test_every_command_teaches_by_example(self):
        self.assertIn("brigade run train.yaml", self.brigade("--help").out)
        for command in COMMANDS:
            text = self.brigade(command, "--help").out
            self.assertIn(f"Usage: brigade {command}", text)
            self.assertRegex(text, rf"\nExamples?:\n  .*brigade {command}")
            self.assertEqual(self.brigade("help", command).out, text)
            self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_doctor_says_what_each_finding_means(self):
        self.runs.append(Running(["doctor"]))
        text = self.runs[-1].finish().out
        for what in ("cores", "memory", "file size", "address space", "descriptors", "huge pages",
                     "seccomp", "GPU", "kernel"):
            self.assertRegex(text, rf"(?m)^(ok|note|BAD) +{what}.*  \S.*  \S")

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
        self.assertEqual(set(completed("brigade", "")), set(COMMANDS))
        self.assertEqual(completed("brigade", "run", "--su"), ["--summary"])
        self.assertEqual(completed("brigade", "run", ""), [], "the shell completes files")
        self.assertEqual(completed("brigade", "stages", "aug"), ["augment_image"])
        self.assertEqual(completed("brigade", "graph", "x.yaml", "--format", "s"), ["svg"])
        self.assertEqual(completed("brigade", "completions", ""), ["bash", "zsh", "fish"])

    # --- files that are no graphs

    def test_a_file_that_is_no_graph_is_said_in_one_line(self):
        (self.folder / "folder.yaml").mkdir()
        os.mkfifo(self.folder / "pipe.yaml")
        noise = random.Random(7).randbytes(5000)
        for name, content, said in (
                ("empty.yaml", b"", "is empty"),
                ("blank.yaml", b"  \n\n", "is empty"),
                ("binary.yaml", noise, "is a binary file"),
                ("program.yaml", brigade_program.PROGRAM.read_bytes()[:900_000],
                 "is a binary file"),
                ("latin.yaml", "name: Müller\n".encode("latin-1"), "is not UTF-8: line 1"),
                ("utf16.yaml", "name: x\n".encode("utf-16"), "is UTF-16"),
                ("mac.yaml", b"name: x\rseed: 1\r", "carriage return"),
                ("zero.yaml", b"name: this has a zero \0\n", "control character"),
                ("large.yaml", b"key: value\n" * 1_000_000, "a graph file may have 1.0 MiB"),
                ("folder.yaml", None, "is a folder"),
                ("pipe.yaml", None, "is a pipe"),
                ("gone.yaml", None, "no such file")):
            with self.subTest(name):
                if content is not None:
                    (self.folder / name).write_bytes(content)
                finished = self.brigade("check", name, code=2)
                self.assertEqual(finished.out, "")
                self.assertEqual(len(finished.err.splitlines()), 1, finished.err)
                self.assertTrue(finished.err.startswith(f"{name}: error: "), finished.err)
                self.assertIn(said, finished.err)

    def test_mistakes_of_all_files_come_at_once(self):
        self.write("good.yaml", "stages: {}\n")
        (self.folder / "empty.yaml").write_bytes(b"")
        said = self.brigade("check", "good.yaml", "gone.yaml", "empty.yaml", code=2).err
        self.assertIn("gone.yaml: error: no such file\nempty.yaml: error: is empty", said)
        self.assertIn("2 errors", said)


if __name__ == "__main__":
    main()
