"""len() of a Loader is how many batches its loop gives, or a TypeError with the reason."""

import contextlib
import io
import itertools
import json
import os
import pathlib
import tarfile
import tempfile
import unittest
from unittest import mock

import brigade
from brigade import _graph
from graphs import open_loader

CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "configs"
LIMIT = 700  # samples of each source of a config, which may have 60,000
STAGES = """
import brigade
from helpers import nothing

@brigade.stage(outputs={})
def keep(data):
    pass

@brigade.stage(outputs={})
def some(sample):
    return brigade.DROP if sample.index % 3 == 0 else None

@brigade.stage(outputs={"x": "i64[]"})
class Eleven:
    def __len__(self):
        return 11

    def __call__(self, sample):
        return sample.id
"""
KEEPS = """
import brigade
from helpers import nothing

@brigade.stage(outputs={})
def keep(data):
    pass

@brigade.stage(outputs={})
def others(sample):
    return nothing() if sample.index == 0 else None

@brigade.stage(outputs={}, drops=True)
def declared(sample):
    return nothing() if sample.index == 0 else None

@brigade.stage(outputs={"x": "i64[]"})
class Eleven:
    def __len__(self):
        return 11

    def __call__(self, sample):
        return sample.id
"""
HELPERS = """
import brigade

def nothing():
    return brigade.DROP
"""


def numbers(count, **keys):
    return {"producer": "synthetic", "params": {"count": count, "shape": [2]}, **keys}


def out(source="numbers", batch=8, **keys):
    return {"consumer": "application", "from": {"stage": source, "batch": batch}, **keys}


def line(*stages, **last):
    """numbers -> a -> b -> ... -> out."""
    made, above = {}, "numbers"
    for name, stage in stages:
        made[name] = stage if "producer" in stage or "mix" in stage else {"from": above, **stage}
        above = name
    return {"stages": {**made, "out": out(above, **last)}}


class Lengths(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def check(self, graph, output=None, epochs=2, **options):
        """len() before the first batch, and those of each epoch."""
        with open_loader(graph, output, **options) as loader:
            length = len(loader)
            for epoch in range(epochs):
                self.assertEqual(sum(1 for _ in loader), length, (graph, options, epoch))
        return length

    def why_not(self, graph, output=None, **options):
        with open_loader(graph, output, **options) as loader:
            with self.assertRaises(TypeError) as caught:
                len(loader)
        start = " is unknown until an epoch has been read: "
        self.assertIn(start, str(caught.exception))
        return str(caught.exception).split(start)[1]


class Combinations(Lengths):
    def test_of_ranks_limits_and_parts(self):
        sources = [{}, {"limit": 30}, {"limit": "50%"}, {"skip": 7},
                   {"split": {"a": 0.7, "seed": 1}, "part": "rest"}]
        for source, drop_last, (world, uneven) in itertools.product(
                sources, (False, True), ((1, "pad"), (3, "pad"), (3, "drop"))):
            graph = line(("numbers", numbers(100, shuffle=True, **source)), drop_last=drop_last)
            graph["shard"] = {"rank": world - 1, "world": world, "uneven": uneven}
            self.check(graph)

    def test_of_weights_and_mixtures(self):
        images = self.folder / "images"
        for label, count in (("cat", 5), ("dog", 45)):
            (images / label).mkdir(parents=True)
            for i in range(count):
                (images / label / f"{i}.jpg").touch()
        files = {"producer": "image_folder", "params": {"root": str(images)}}
        for keys in ({"weights": "balanced"}, {"weights": "balanced", "samples": 33},
                     {"repeat_factor": 0.5}):
            for world in (1, 2):
                graph = line(("files", {**files, **keys}), batch=4)
                graph["shard"] = {"rank": 0, "world": world}
                self.check(graph)
        for keys in ({}, {"samples": 21}):
            mix = {"files": files, "more": {**files, "limit": 9},
                   "both": {"mix": {"files": 0.5, "more": 0.5}, "shuffle": True, **keys}}
            self.check({"stages": {**mix, "out": out("both", 4)}})

    def test_of_stages_that_change_the_number(self):
        source = ("numbers", numbers(50))
        self.assertEqual(self.check(line(source, ("more", {"transform": "repeat",
                                                           "params": {"times": 3}}))), 19)
        self.assertEqual(self.check(line(source, ("full", {"transform": "repack"}))), 7)
        self.assertEqual(self.check(line(source, ("kept", {"transform": "cache", "limit": 20}))), 3)
        merged = {"a": numbers(50), "b": numbers(21),
                  "all": {"transform": "merge", "from": ["a", "b"], "join": "merge"}}
        self.assertEqual(self.check({"stages": {**merged, "out": out("all")}}), 9)
        for join, length in (("epochs", 7 + 3), ("merge", 7 + 3)):
            both = {"consumer": "application", "join": join,
                    "from": {"a": {"stage": "a", "batch": 8}, "b": {"stage": "b", "batch": 8}}}
            self.assertEqual(self.check({"stages": {**merged, "all": None, "out": both} |
                                         {"a": numbers(50), "b": numbers(21)}},
                                        set={"stages.all": None}), length)

    def test_of_the_limit_of_a_call(self):
        self.assertEqual(self.check(line(("numbers", numbers(50))), limit=20), 3)


class Sources(Lengths):
    def images(self):
        for name in ("cat/1.jpg", "cat/2.jpg", "cat/3.jpg", "dog/1.jpg", "dog/2.jpg"):
            path = self.folder / "images" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return str(self.folder / "images")

    def test_of_a_folder_is_kept_in_its_index(self):
        index = self.folder / "images.index"
        for params in ({}, {"index": str(index)}):
            files = {"producer": "image_folder", "params": {"root": self.images(), **params}}
            self.assertEqual(self.check(line(("files", files), batch=2)), 3)
        self.assertTrue(index.exists())

    def test_of_a_folder_costs_nothing_until_it_is_asked(self):
        index = self.folder / "images.index"
        files = {"producer": "image_folder",
                 "params": {"root": self.images(), "index": str(index)}}
        with open_loader(line(("files", files), batch=2)) as loader:
            self.assertIn("not counted yet", repr(loader))
            self.assertFalse(index.exists())
            self.assertEqual(len(loader), 3)
            self.assertIn("3 batches of 5 samples", repr(loader))

    def test_of_archives(self):
        shard = self.folder / "a.tar"
        with tarfile.open(shard, "w", format=tarfile.USTAR_FORMAT) as tar:
            for i in range(5):
                for extension in ("jpg", "cls"):
                    member = tarfile.TarInfo(f"{i}.{extension}")
                    member.size = 1
                    tar.addfile(member, io.BytesIO(b"1"))
        for shards in (str(shard), str(self.folder / "*.tar")):
            files = {"producer": "tar_shards", "params": {"shards": shards}}
            self.assertEqual(self.check(line(("files", files), batch=2)), 3)
        shard.write_bytes(b"x" * 1024)
        self.assertIn('stage "files": ', self.why_not(line(("files", files), batch=2)))

    def test_of_a_table_that_is_longer_than_what_is_read_of_it(self):
        table = self.folder / "list.csv"
        table.write_text("path,label\n" + "".join(f"{'x' * 90}{i}.jpg,0\n" for i in range(2000)))
        files = {"producer": "image_list", "params": {"file": str(table)}}
        self.assertEqual(self.check(line(("files", files), batch=64)), 32)

    def test_of_caches(self):
        file = str(self.folder / "x.cache")
        folder = {"producer": "image_folder", "params": {"root": self.images()}}
        for params in ({}, {"file": file}, {"file": file}):  # of the last its file is read
            kept = {"transform": "cache", "params": params}
            self.assertEqual(self.check(line(("files", folder), ("kept", kept), batch=2)), 3)
        cached = {"producer": "cached", "params": {"file": file}, "shuffle": True}
        self.assertEqual(self.check(line(("cached", cached), batch=2)), 3)

    def test_of_a_cache_that_lacks_samples(self):
        file = str(self.folder / "x.cache")
        fails = {"transform": "delay", "params": {"fail_at": [3]}, "on_error": {"skip": 1}}
        graph = line(("numbers", numbers(10)), ("slow", fails),
                     ("kept", {"transform": "cache", "params": {"file": file}}), batch=2)
        with open_loader(graph, epochs=1) as loader:
            self.assertEqual(sum(batch.size for batch in loader), 9)
        cached = {"producer": "cached", "params": {"file": file}}
        self.assertEqual(self.why_not(line(("cached", cached))), 'stage "cached" may drop samples')

    def test_of_streams_and_inputs_is_not_known(self):
        (self.folder / "lines.txt").write_text("a\nb\n")
        lines = {"producer": "lines", "params": {"file": str(self.folder / "lines.txt")}}
        self.assertEqual(self.why_not(line(("lines", lines))), 'stage "lines" is a stream')


class Python(Lengths):
    def setUp(self):
        try:
            import numpy  # noqa: F401
        except ImportError:
            self.skipTest("NumPy is not installed (python3-numpy)")
        super().setUp()
        for name, text in (("stages", STAGES), ("keeps", KEEPS), ("helpers", HELPERS)):
            (self.folder / f"{name}.py").write_text(text)

    def stage(self, call, kind="transform"):
        return {kind: "python", "params": {"call": f"{self.folder}/{call}"}}

    def test_producers_tell_by_their_own_len(self):
        made = self.stage("keeps.py:Eleven", "producer")
        self.assertEqual(self.check(line(("made", made), batch=4)), 3)

    def test_stages_whose_file_does_not_name_drop_keep_all(self):
        source = ("numbers", numbers(50))
        self.assertEqual(self.check(line(source, ("keep", self.stage("keeps.py:keep")))), 7)
        for call in ("stages.py:some", "stages.py:keep", "keeps.py:declared"):
            self.assertEqual(self.why_not(line(source, ("stage", self.stage(call)))),
                             'stage "stage" may drop samples')

    def test_a_drop_that_nobody_has_named_is_warned_of_once(self):
        graph = line(("numbers", numbers(50)), ("stage", self.stage("keeps.py:others")))
        told = io.StringIO()
        with contextlib.redirect_stderr(told), open_loader(graph) as loader:
            self.assertEqual(len(loader), 7)
            for _ in range(2):
                self.assertEqual(sum(batch.size for batch in loader), 49)
        self.assertEqual(told.getvalue().count("others dropped a sample"), 1, told.getvalue())


class Configs(Lengths):
    """Those whose data are there."""

    def test_of_every_output_of_every_config(self):
        unknown = {}
        for path in sorted(CONFIGS.glob("*.yaml")):
            if path.stem in ("layers.machine", "base"):  # parts of a graph
                continue
            for output in self.consumers(path):
                with tempfile.TemporaryDirectory() as folder, \
                        mock.patch.dict(os.environ, {"TMPDIR": folder}), \
                        open_loader(path, output, limit=LIMIT) as loader:
                    try:
                        length = len(loader)
                    except TypeError as error:
                        unknown[path.stem, output] = str(error).split(": ", 1)[1]
                        continue
                    with self.subTest(config=path.stem, output=output):
                        with contextlib.redirect_stderr(io.StringIO()):  # what crashes on purpose
                            self.assertEqual(sum(1 for _ in loader), length)
        self.assertEqual(unknown, {("stream", "end"): 'stage "requests" is a stream'})

    def consumers(self, path):
        try:
            plan = json.loads(_graph.read(path).plan(_graph.app()))
        except brigade.GraphError as error:
            if not all("there is no file or folder" in one.message for one in error.diagnostics):
                raise
            print(f"{path.name}: skipped, {error.diagnostics[0].message}")
            return []
        return [one["name"] for one in plan["stages"] if one["kind"] == "consumer"]


if __name__ == "__main__":
    unittest.main(argv=["length_test.py"])
