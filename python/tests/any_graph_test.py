"""Graphs written for `brigade run`, and epochs that are left: a loop reads them as they are."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import brigade
from graphs import graph, open_loader

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(brigade.__file__).parent / "native" / "bin" / "brigade"
NO_DATA = "there is no (file or )?folder /usr/share/datasets/"
LACKING = NO_DATA + "|torch package|brigade_torch"  # of a build without LibTorch


def graphs_of_configs():
    """(files, name of a consumer); NAME.WORD.yaml lies over NAME.yaml."""
    for path in sorted((ROOT / "configs").rglob("*.yaml")):
        name, *over = path.name.removesuffix(".yaml").split(".")
        files = [path.with_name(f"{name}.yaml"), path] if over else [path]
        text = "".join(file.read_text() for file in files)
        for stage in re.findall(r"^  (\w+):(?:(?!^  \w).)*?\bconsumer:", text, re.M | re.S):
            yield files, stage


class Written(unittest.TestCase):
    def test_every_graph_of_configs_is_read_without_a_change(self):
        read = set()
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.dict(os.environ, {"TMPDIR": folder}):  # for caches
            for files, stage in graphs_of_configs():
                with self.subTest(f"{files[-1].name}: {stage}"):
                    try:
                        loader = open_loader(files, stage)
                    except brigade.GraphError as error:
                        for one in error.diagnostics:
                            self.assertRegex(str(one), LACKING)
                        continue
                    with loader:
                        self.assertGreater(next(iter(loader)).size, 0)
                    read.add(files[-1].name)
        self.assertGreaterEqual(len(read), 15)

    def test_the_plan_is_that_of_the_program(self):
        path = ROOT / "configs" / "hello.yaml"
        said = subprocess.run([PROGRAM, "plan", "--json", path], check=True, capture_output=True)
        planned = json.loads(said.stdout)
        with open_loader(path) as loader:
            found = loader.plan()
        self.assertEqual([(one["name"], one["kind"]) for one in found["stages"]],
                         [(one["name"], one["kind"]) for one in planned["stages"]])
        self.assertEqual([one["type"] for one in found["stages"]], ["synthetic", "application"])
        self.assertEqual([one["type"] for one in planned["stages"]], ["synthetic", "count"])


class Left(unittest.TestCase):
    def test_the_rest_of_an_epoch_is_not_made(self):
        """Hours of it: a test that made it would not end."""
        long = graph(numbers={"params": {"count": 10_000_000, "shape": [3], "dtype": "f32"}},
                     work={"params": {"ms": 5}, "batch": 1})
        with open_loader(long) as loader:
            for epoch in range(3):
                batch = next(iter(loader))
                self.assertEqual((batch.epoch, batch.index), (epoch, 0))
                del batch
            made = {one["name"]: one["samples"] for one in loader.stats()["stages"]}
        self.assertLess(made["work"], 10_000)


class Held(unittest.TestCase):
    def test_a_function_is_told_its_name(self):
        def local(data):
            return data

        for function, said in (
                (json.dumps, 'write "json:dumps"'), (pathlib.Path, r'write "pathlib\S*:Path"'),
                (local, 'move local to a separate file, and write "FILE.py:local"'),
                (lambda data: data, 'move it to a separate file, and write "FILE.py:NAME"'),
                (Written, 'move Written to a separate file')):
            graph = {"stages": {"work": {"transform": "python", "params": {"call": function}}}}
            with self.assertRaisesRegex(TypeError, "a graph contains functions by name, "
                                        "because replicas import them; " + said):
                brigade.Loader(graph)

    def test_a_list_of_batches_is_told_what_to_do(self):
        with open_loader(graph(), hold=2) as loader:
            with self.assertRaises(brigade.HeldError) as caught:
                list(loader)
        self.assertRegex(str(caught.exception), "release batches .* or raise `hold:`")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
