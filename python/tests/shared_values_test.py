"""brigade.shared(): the values, the mistakes, and the one memory of all processes."""

import collections
import copy
import gc
import json
import logging
import multiprocessing
import os
import pathlib
import pickle
import random
import subprocess
import sys
import unittest
from unittest import mock

import brigade
from brigade import _data_pool, _pickling
from data_sets import Listed, read_in_child
from graphs import NeedsNumPy
from processes import WITH_TESTS, memory_of

NESTED = {
    "paths": ["a.jpg", "", "Grüße.png", "\udcff.jpg", "z" * 300],
    "numbers": [0, -1, 1 << 62, -(1 << 63)], "large": [1 << 80, -(1 << 64), 5],
    "floats": [0.5, float("inf"), -0.0], "complex": [1j, 2 - 3j], "bools": [True, False],
    "nones": [None, None], "bytes": [b"", b"\0\xff"], "empty": [], "no keys": {},
    "mixed": [1, 2.5, "three", None, True, b"4", [5], (6,), {"seven": 7}],
    "tuples": [("a", 1), ("b", 2)], "ragged": [(), (1,), (1, "two")],
    "long tuple": tuple(range(100)), "lists": [[1, 2], [], [3]], "deep": [[[["x"]]], []],
    "rows": [{"id": i, "box": [i, 2.0], "name": str(i)} for i in range(5)],
    "dicts": [{"a": 1}, {"b": 2, 3: "c"}, {}],
    "keys": {None: 0, 1: 1, 2.5: 2, "s": 3, b"b": 4, (1, ("t", None)): 5, False: 6, -7: 7,
             1 << 90: 8, "é": 9},
}


class Values(unittest.TestCase):
    def test_copy_gives_what_was_given(self):
        for name, value in NESTED.items():
            with self.subTest(name):
                made = brigade.shared(value)
                self.assertEqual(made.copy(), value)
                self.assertIs(type(made.copy()), type(value))
                self.assertEqual(len(made), len(value))
        made = brigade.shared(NESTED)
        self.assertEqual(made.copy(), NESTED)
        self.assertEqual(list(map(type, made["mixed"].copy())), list(map(type, NESTED["mixed"])))
        self.assertEqual(str(made["floats"].copy()), str(NESTED["floats"]))
        self.assertIs(type(made["bools"][0]), bool)
        self.assertEqual(brigade.shared([made, made["paths"]]).copy(), [NESTED, NESTED["paths"]])
        self.assertIs(brigade.shared(made), made)

    def test_a_sequence_is_one(self):
        values = [f"{i}.jpg" for i in range(10)]
        made = brigade.shared(values)
        self.assertIsInstance(made, collections.abc.Sequence)
        for key in (0, 9, -1, -10):
            self.assertEqual(made[key], values[key])
        for key in (slice(2, 5), slice(None, None, -2), slice(-3, None), slice(7, 100)):
            self.assertEqual(made[key], values[key])
            self.assertEqual(made[key][::-1], values[key][::-1])
        for key in (10, -11):
            with self.assertRaisesRegex(IndexError, f"index {key} of a shared sequence of 10"):
                made[key]
        self.assertEqual(list(reversed(made)), values[::-1])
        self.assertTrue("3.jpg" in made and "x" not in made)
        self.assertEqual((made.index("4.jpg"), made.count("4.jpg")), (4, 1))
        self.assertTrue(made == values and made != values[1:] and made != tuple(values))
        self.assertTrue(brigade.shared(tuple(values)) == tuple(values))
        self.assertTrue(made != brigade.shared(tuple(values)) and made == brigade.shared(values))
        self.assertEqual(repr(made), "shared(['0.jpg', '1.jpg', '2.jpg', ... 10 in all])")
        self.assertEqual(repr(brigade.shared((1, 2))), "shared((1, 2))")

    def test_a_mapping_is_one(self):
        values = {f"key {i}": i for i in range(1000)}
        made = brigade.shared(values)
        self.assertIsInstance(made, collections.abc.Mapping)
        self.assertEqual((list(made), list(made.values()), list(made.items())),
                         (list(values), list(values.values()), list(values.items())))
        for key, value in values.items():
            self.assertEqual(made[key], value)
        for small in (made, brigade.shared({"a": 1})):
            self.assertEqual((small.get("key"), small.get("key", 5)), (None, 5))
            with self.assertRaisesRegex(KeyError, "'key'"):
                small["key"]
        self.assertTrue("key 5" in made and 5 not in made and 5 in made.values())
        self.assertTrue(("key 5", 5) in made.items() and made == values and values == made)
        self.assertEqual(repr(brigade.shared({"a": "b"})), "shared({'a': 'b'})")

    def test_keys_are_found_as_a_dict_finds_them(self):
        values = {**NESTED["keys"], **{i: -i for i in range(50, 90)}}
        for made in (brigade.shared(values), brigade.shared([{}, {"other": 0}, values])[2]):
            for key in [*values, 1.0, True, 0, -7.0, 60.0, 2, "", (1,), (1, ("t", 2))]:
                self.assertEqual(made.get(key, "none"), values.get(key, "none"), repr(key))
            with self.assertRaises(TypeError):
                made[[]]

    def test_random_values(self):
        draw = random.Random(5)

        def some(depth):
            kind = draw.randrange(9 if depth else 6)
            if kind >= 6:
                inside = [some(depth - 1) for _ in range(draw.randrange(12))]
                return [inside, tuple(inside), {str(i): one for i, one in enumerate(inside)}][
                    kind - 6]
            return [None, draw.random() < 0.5, draw.randrange(-99, 99), draw.random(),
                    "é" * draw.randrange(5), bytes(draw.randrange(5))][kind]

        for _ in range(300):
            value = [some(4) for _ in range(draw.randrange(1, 6))]
            self.assertEqual(brigade.shared(value).copy(), value)

    def test_nothing_can_be_changed(self):
        made = brigade.shared({"list": [1, 2], "dict": {"a": 1}})
        for change in ("made['list'][0] = 5", "made['dict']['a'] = 5", "del made['list']",
                       "made['list'].append(1)", "made.update(a=1)", "{made: 1}",
                       "made['list'].other = 1", "brigade.SharedSequence()"):
            with self.assertRaises((TypeError, AttributeError), msg=change):
                exec(change)
        self.assertIs(copy.deepcopy(made), made)
        self.assertIs(copy.copy(made["list"])._store, made._store)


class Mistakes(NeedsNumPy):
    def refused(self, value, text, kind=TypeError):
        with self.assertRaisesRegex(kind, text):
            brigade.shared(value)

    def test_a_type_that_is_not_taken_is_named_with_its_place(self):
        path = type(pathlib.Path()).__qualname__
        self.refused([{"img": 1}, {"img": pathlib.Path("a")}],
                     rf"^x\[1\]\['img'\] is a pathlib\.(_local\.)?{path}, but .* pass str\(path\)$")
        self.refused([1, [2, (3, object())]],
                     r"^x\[1\]\[1\]\[1\] is an object, but .* CPU tensors$")
        self.refused({"a": {"b": [{1}]}}, r"^x\['a'\]\['b'\]\[0\] is a set, but .* pass a list")
        self.refused({i: object() if i == 99 else i for i in range(100)}, r"^x\[99\] is an object")
        self.refused([{(1, frozenset()): 2}], r"^x\[0\]: key \(1, frozenset\(\)\)\[1\] is a froz")
        self.refused([[], [0], [1, bytearray()]], r"^x\[2\]\[1\] is a bytearray, but ")
        self.refused(tuple([collections.namedtuple("P", "x")(1)]), r"^x\[0\] is a .*\.P, but ")
        self.refused([self.numpy.array([None])], r"^x\[0\] is an array of object")

    def test_other_things_alone(self):
        self.refused("text", "takes a list, a tuple, a dict, .*, found a str")
        self.refused(iter([]), "found a list_iterator")

    def test_a_list_in_itself(self):
        value = []
        value.append(value)
        self.refused(value, "nested more than 64 levels deep, or contains itself", ValueError)

    def test_what_failed_leaves_no_descriptor(self):
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            self.refused([object()], "is an object")
            brigade.shared([1])
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)


class Arrays(NeedsNumPy):
    def test_arrays_of_numpy(self):
        numpy = self.numpy
        given = [numpy.arange(6, dtype="f4").reshape(2, 3), numpy.zeros((0, 2), "i8"),
                 numpy.array(5, ">u2"), numpy.arange(9).reshape(3, 3).T[::2],
                 numpy.array([("a", 1)], [("name", "U3"), ("id", "i4")]), numpy.array(["ab", "c"]),
                 numpy.array(["2020-01-01"], "M8[D]")]
        like = [numpy.full((2, 2), i) for i in range(5)]
        made = brigade.shared({"some": given, "like": like, "scalars": list(numpy.arange(5)),
                               "scalar": [numpy.float32(2), numpy.int8(3), numpy.str_("x")],
                               "no dimension": [numpy.array(1), numpy.array(2)]})
        for one, got in zip(given + like, [*made["some"], *made["like"]], strict=True):
            self.assertEqual((got.dtype, got.shape, type(got)), (one.dtype, one.shape, type(one)))
            self.assertTrue((got == one).all())
            self.assertFalse(got.flags.writeable)
        self.assertEqual([(type(one), one) for one in made["scalars"]],
                         [(numpy.int64, i) for i in range(5)])
        self.assertEqual(list(map(type, made["scalar"])),
                         [numpy.float32, numpy.int8, numpy.str_])
        self.assertIs(type(made["no dimension"][0]), numpy.ndarray)

    def test_an_array_alone(self):
        numpy = self.numpy
        given = numpy.arange(12.0).reshape(4, 3)
        shared = brigade.shared(given)
        made = pickle.loads(pickle.dumps(shared))
        self.assertEqual((made.shape, made.dtype, len(made)), ((4, 3), given.dtype, 4))
        self.assertTrue((made[1] == given[1]).all() and (made[1:, ::2] == given[1:, ::2]).all())
        self.assertTrue((numpy.asarray(made) == given).all())
        self.assertFalse(numpy.asarray(made).flags.writeable)
        self.assertTrue(numpy.array(made).flags.writeable and made.copy().flags.writeable)
        self.assertEqual(repr(made), "shared(ndarray float64 [4, 3])")


class Torch(unittest.TestCase):
    def setUp(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed (python3-torch)")
        self.torch = torch

    def test_tensors(self):
        torch = self.torch
        given = [torch.arange(6).view(2, 3), torch.ones(3, dtype=torch.bfloat16),
                 torch.zeros(0, 4), torch.tensor(2.5), torch.arange(6.0).view(2, 3).T,
                 torch.full((2,), 1j).conj()]
        for one, got in zip(given, brigade.shared(given), strict=True):
            self.assertEqual((got.dtype, got.shape), (one.dtype, one.shape))
            self.assertTrue(torch.equal(got, one))
        like = brigade.shared([torch.full((2,), i) for i in range(4)])
        self.assertEqual([one.tolist() for one in like], [[i, i] for i in range(4)])
        made = brigade.shared(torch.eye(3))
        self.assertTrue(torch.equal(made[...], torch.eye(3)) and made[1].tolist() == [0, 1, 0])

    def test_those_that_are_not_taken(self):
        for tensor, text in ((self.torch.ones(1, requires_grad=True), "requires a gradient"),
                             (self.torch.eye(2).to_sparse(), "is not dense"),
                             (self.torch.nn.Parameter(self.torch.ones(1)), "Parameter, .*detach")):
            with self.assertRaisesRegex(TypeError, r"^x\['w'\] is a .*" + text):
                brigade.shared({"w": tensor})

    def test_default_collate_makes_batches_of_them(self):
        rows = brigade.shared([{"x": i, "box": [i, 2]} for i in range(4)])
        (batch,) = brigade.DataLoader(rows, batch_size=4)
        self.assertEqual(batch["x"].tolist(), [0, 1, 2, 3])
        self.assertEqual([one.tolist() for one in batch["box"]], [[0, 1, 2, 3], [2] * 4])


class Processes(NeedsNumPy):
    VALUES = {"paths": [f"{i}.jpg" for i in range(200000)], "labels": list(range(1000))}

    def setUp(self):
        super().setUp()
        gc.collect()  # mappings of other tests
        self.made = brigade.shared(self.VALUES)
        self.inode = os.fstat(self.made._store._descriptor).st_ino

    def run_child(self, method, value):
        context = multiprocessing.get_context(method)
        ours, theirs = context.Pipe()
        child = context.Process(target=read_in_child, args=(value, theirs))
        child.start()
        theirs.close()
        del value
        self.addCleanup(child.join)
        return ours.recv()

    def test_forked_and_spawned_processes_read_the_same_memory(self):
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method):
                got = self.run_child(method, self.made["paths"][5:])
                self.assertEqual((got["first"], got["size"]), ("5.jpg", 199995))
                self.assertEqual(got["inodes"], [self.inode])

    def test_reading_copies_no_page(self):
        with self.subTest("reading"):
            got = self.run_child("fork", self.made["paths"])
            self.assertEqual(got["copied"], 0)
        try:
            import torch
        except ImportError:
            return
        made = brigade.shared([torch.ones(1000)])
        self.assertGreater(self.run_child("fork", made)["copied"], 0)  # it writes the tensor
        self.assertEqual(made[0].sum(), 1000)

    def test_a_spawned_process_reads_what_its_parent_no_longer_has(self):
        got = self.run_child("spawn", brigade.shared(["only", "here"]))
        self.assertEqual(got["first"], "only")

    def read_pickle(self, data, before=""):
        return subprocess.run(
            [sys.executable, "-c", "import pickle, sys; data = sys.stdin.buffer.read()\n" + before +
             "print(pickle.loads(data)[1])"], input=data, capture_output=True, env=WITH_TESTS,
            timeout=60, check=False)

    def test_another_program_reads_a_pickle(self):
        data = pickle.dumps(self.made["paths"])
        self.assertLess(len(data), 1000)
        done = self.read_pickle(data)
        self.assertEqual((done.stdout, done.stderr), (b"1.jpg\n", b""))

    def test_a_pickle_whose_process_has_dropped_the_value(self):
        made = brigade.shared(["a", "b"])
        data = pickle.dumps(made)
        del made
        text = rb"a shared value no longer exists: process \d+, .* pickle its copy\(\)"
        self.assertRegex(self.read_pickle(data).stderr, text)
        other = brigade.shared(["c", "d"])  # has the same descriptor now
        self.assertRegex(self.read_pickle(data).stderr, text)
        with self.assertRaisesRegex(FileNotFoundError, "no longer exists"):
            pickle.loads(data)
        del other

    def test_values_outlive_the_process_that_made_them(self):
        maker = subprocess.Popen(
            [sys.executable, "-c", "import pickle, sys, brigade\n"
             "made = brigade.shared({'x': [1, 2]})\n"
             "sys.stdout.buffer.write(pickle.dumps(made)); sys.stdout.flush(); sys.stdin.read()"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=WITH_TESTS)
        data = maker.stdout.read1()
        got = pickle.loads(data)
        maker.communicate(timeout=60)
        self.assertEqual(got["x"].copy(), [1, 2])
        again = pickle.dumps(got["x"])  # of this process
        self.assertEqual(self.read_pickle(again).stdout, b"2\n")
        del got
        with self.assertRaisesRegex(FileNotFoundError, "no longer exists"):
            pickle.loads(data)

    def test_one_mapping_in_a_process(self):
        got = pickle.loads(pickle.dumps([self.made, self.made["paths"], self.made["labels"]]))
        self.assertEqual(len({one._store for one in got}), 1)
        self.assertIs(got[0]._store, self.made._store)

    def test_workers_of_a_data_loader(self):
        with brigade.DataLoader(Listed(self.made["paths"], 8), 4, num_workers=2,
                                collate_fn=list) as loader:
            got = [one for batch in loader for one in batch]
        self.assertEqual([one["path"] for one in got], [f"{i}.jpg" for i in range(8)])
        self.assertTrue(all(self.inode in one["inodes"] for one in got))


class LongLists(unittest.TestCase):
    """Named in a line: what a worker's dataset has as a list of many strings."""

    def setUp(self):
        many = mock.patch.object(_pickling, "_MANY", 100)
        warned = mock.patch.object(_data_pool, "_warned", set())
        for patch in (many, warned):
            patch.start()
            self.addCleanup(patch.stop)

    def lines_of(self, make, *things):
        class Lines(logging.Handler):
            def emit(self, record):
                lines.append(record.getMessage())
        lines, handler = [], Lines()
        logger = logging.getLogger("brigade")
        logger.addHandler(handler)
        self.addCleanup(logger.removeHandler, handler)
        for thing in things:
            make({"dataset": Listed(thing, 4)})
        return lines

    def test_once_with_its_name_and_the_way(self):
        def loaded(parts):
            with brigade.DataLoader(parts["dataset"], num_workers=1, collate_fn=list) as loader:
                list(loader)

        names = list(map(str, range(1234)))
        line = "DataLoader: dataset.values is a list of 1,234 strings, which each worker copies; " \
               "use brigade.shared(dataset.values) to keep one copy for all workers"
        for make in (_data_pool.Payload, loaded):
            _data_pool._warned.clear()
            self.assertEqual([one for one in self.lines_of(make, names, names) if "copies" in one],
                             [line])

    def test_what_holds_strings(self):
        for thing in (tuple(map(str, range(101))), [("a", i) for i in range(101)],
                      dict.fromkeys(map(str, range(101)), 0), {i: "a" for i in range(101)},
                      [[0, {"deep": ["a"] * 101}]]):
            self.assertIsNotNone(_pickling.long_list({"dataset": thing}))
        self.assertEqual(_pickling.long_list({"dataset": [[0, {"deep": ["a"] * 101}]]})[0],
                         "dataset[0][1]['deep']")

    def test_what_does_not(self):
        for thing in (["a"] * 100, list(range(101)), brigade.shared(["a"] * 101), "a" * 101,
                      [(1, 2)] * 101):
            self.assertIsNone(_pickling.long_list({"dataset": thing}), json.dumps(str(thing)[:40]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
