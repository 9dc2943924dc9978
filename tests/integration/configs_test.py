#!/usr/bin/env python3
"""Every graph of configs/ that needs no LibTorch runs, briefly, and its audit balances."""

import json
import pathlib
import re
import struct

from brigade_program import ProgramTest, Running, main

CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "configs"
LIMIT = 1000


def graphs():
    """Lists of files, as `brigade run` takes them: NAME.WORD.yaml lies over NAME.yaml."""
    for path in sorted(CONFIGS.glob("*.yaml")):
        name, *over = path.name.removesuffix(".yaml").split(".")
        yield [CONFIGS / f"{name}.yaml", path] if over else [path]


def needs_libtorch(files):
    return any("consumer: torch_" in path.read_text() for path in files)


def needs_data_that_is_not_here(files):
    """Data sets are not part of the repository; what needs one says so and nothing else."""
    said = Running(["check", *files]).finish().err
    errors = re.findall("error: .*", said)
    return bool(errors) and all("there is no file or folder /usr/share/datasets/" in error
                                for error in errors)


def graphs_to_run():
    return [files for files in graphs()
            if not needs_libtorch(files) and not needs_data_that_is_not_here(files)]


def write_array(path, dtype, shape, data):
    """A .npy file, without NumPy."""
    header = repr({"descr": dtype, "fortran_order": False, "shape": shape}).ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


class Configs(ProgramTest):
    def run_files(self, files, *arguments):
        """The summary of a run that must succeed."""
        path = self.folder / "summary.json"
        environment = {"TMPDIR": str(self.temporary)}
        self.runs.append(Running(["run", *files, "--quiet", "--summary", path, *arguments],
                                 environment=environment))
        finished = self.runs[-1].finish()
        self.assertEqual(finished.code, 0, finished.err)
        for saved in self.temporary.glob("every_key.*.npy"):  # by `save:`
            saved.unlink()
        return json.loads(path.read_text())

    def check_audit(self, summary):
        self.assertGreater(summary["samples"], 0)
        self.assertTrue(summary["edges"])
        for edge in summary["edges"]:
            self.assertGreater(edge["delivered"], 0, edge)
            self.assertEqual(edge["produced"],
                             edge["delivered"] + edge["dropped"] + edge["quarantined"], edge)
            self.assertEqual(edge["leaked"], 0, edge)

    def test_every_graph_runs_and_its_audits_balance(self):
        ran = 0
        for files in graphs_to_run():
            with self.subTest(" ".join(file.name for file in files)):
                summary = self.run_files(files, "--limit", LIMIT)
                self.check_audit(summary)
                if not any("on_error:" in file.read_text() for file in files):
                    self.assertTrue(all(stage["skipped"] == 0 for stage in summary["stages"]))
                ran += 1
        self.assertGreaterEqual(ran, 8)

    def test_a_picture_s_mask_and_boxes_move_with_it(self):
        count, height, width, boxes = 20, 48, 64, 3
        pixels = bytes(i % 251 for i in range(count * height * width))
        write_array(self.folder / "images.npy", "|u1", (count, height, width, 3), pixels * 3)
        write_array(self.folder / "masks.npy", "|u1", (count, height, width), pixels)
        write_array(self.folder / "boxes.npy", "<f4", (count, boxes, 4),
                    struct.pack("<4f", 8, 8, 40, 30) * count * boxes)
        write_array(self.folder / "labels.npy", "<i8", (count, boxes),
                    struct.pack("<q", 5) * count * boxes)
        sums = set()
        for replicas in (1, 3):
            summary = self.run_files([CONFIGS / "segmentation.yaml"],
                                     "--set", f"vars.data={self.folder}",
                                     "--set", f"stages.augment.replicas={replicas}")
            self.check_audit(summary)
            self.assertEqual(summary["results"]["count"]["samples"], count)
            sums.add(summary["results"]["count"]["set_checksum"])
        self.assertEqual(len(sums), 1)

    def test_stages_with_one_random_stream_draw_the_same_numbers(self):
        graph = (CONFIGS / "shared_random.yaml").read_text()
        for random, same in (("cut", True), ("other", False)):
            # The two images read one by one instead of side by side.
            text = graph.split("  pairs:")[0] + (
                "  one: {consumer: count, from: cut_image}\n"
                "  two: {consumer: count, from: cut_mask}\n")
            path = self.write("apart.yaml", text)
            results = self.run_files([path], "--limit", LIMIT,
                                     "--set", f"stages.cut_mask.random={random}")["results"]
            self.assertEqual(results["one"]["checksum"] == results["two"]["checksum"], same)


if __name__ == "__main__":
    main()
