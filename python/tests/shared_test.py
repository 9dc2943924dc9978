"""Shared tensors (`shared:`), as stages in Python and a program see them; workers die meanwhile."""

import ctypes
import os
import pathlib
import tempfile
import unittest

import brigade
import graphs  # noqa: F401, it silences what is logged

try:
    import numpy
except ImportError:
    numpy = None

RESTART = {"policy": "on_failure", "burst": 50, "within": "1m", "backoff": "0s"}
STAGES = """
import ctypes, os, pathlib, signal
import brigade
import numpy

def die_once(mark, left=""):
    if not pathlib.Path(mark).exists():
        pathlib.Path(mark).write_text(left)
        os.kill(os.getpid(), signal.SIGKILL)

@brigade.stage(outputs={"data": "=data"})
class Fill:
    def __init__(self, worker, mark):
        shared = worker.shared("w")
        w = numpy.asarray(shared)
        if shared.fill:
            assert not w.any(), "a successor begins with zeros"
            w[:500] = 7                     # half of it
            die_once(mark)
            w[:] = numpy.arange(1000)
        else:
            assert w[999] == 999, "nobody sees half of it"
        self.w = w
    def __call__(self, data):
        return data + self.w[1]

@brigade.stage(outputs={"data": "=data"})
class Keep:
    def __init__(self, worker, mark, beyond=0):
        self.part = numpy.asarray(worker.shared("result"))
        self.mark, self.beyond = f"{mark}{worker.replica}", beyond
        left = pathlib.Path(self.mark).read_text() if os.path.exists(self.mark) else ""
        assert left in ("", str(self.part.tolist())), "a successor finds it as it was"
    def __call__(self, data, sample):
        self.part[sample.id % len(self.part)] = 1
        if sample.id > 400:
            die_once(self.mark, str(self.part.tolist()))
        if self.beyond:
            end = self.part.ctypes.data + self.part.nbytes
            ctypes.memset(end, 1, self.beyond)
        return data
"""


def graph(call, folder, shared, mapped, more=(), **keys):
    params = {"call": f"{folder}/stages.py:{call}", "mark": f"{folder}/mark", **dict(more)}
    return {"shared": shared, "stages": {
        "numbers": {"producer": "synthetic",
                    "params": {"count": 1000, "shape": [1], "dtype": "f32"}},
        "work": {"transform": "python", "from": "numbers", "params": params, "replicas": 2,
                 "restart": RESTART, "shared": mapped, "chunk": 5, **keys},
        "out": {"consumer": "application", "from": {"stage": "work", "batch": 100}}}}


@unittest.skipIf(numpy is None, "NumPy is not installed (python3-numpy)")
class Shared(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "stages.py").write_text(STAGES)

    def read(self, made, name):
        """The samples that came, and the tensor, which outlives its run."""
        with brigade.open(made, tensors="numpy") as run:
            tensor = run.shared(name)
            samples = sum(batch.size for batch in run["out"])
            run.wait()
        return samples, numpy.asarray(tensor)

    def test_a_successor_of_replica_0_fills_it_and_the_others_wait(self):
        made = graph("Fill", self.folder, {"w": {"dtype": "f64", "shape": [1000],
                                                 "init": "replica_0"}}, "w")
        samples, w = self.read(made, "w")
        self.assertEqual(samples, 1000)
        self.assertTrue((self.folder / "mark").exists())
        self.assertEqual(w.tolist(), list(range(1000)))

    def test_parts_stay_when_their_replica_dies_and_are_saved(self):
        result = {"dtype": "u8", "shape": [200], "access": "own_part",
                  "save": str(self.folder / "result.npy")}
        samples, all_parts = self.read(graph("Keep", self.folder, {"result": result}, "result"),
                                       "result")
        self.assertEqual(samples, 1000)
        marks = [self.folder / f"mark{r}" for r in (0, 1)]
        self.assertTrue(any(mark.exists() and "1" in mark.read_text() for mark in marks))
        self.assertGreater(all_parts.sum(), 100)
        self.assertFalse(all_parts.flags.writeable)
        self.assertEqual(numpy.load(self.folder / "result.npy").tolist(), all_parts.tolist())

    def test_writing_beside_a_part_is_found(self):
        def made(beyond):
            return graph("Keep", self.folder,
                         {"result": {"dtype": "u8", "shape": [200], "access": "own_part"}},
                         "result", {"beyond": beyond}, restart="never")
        for r in (0, 1):
            (self.folder / f"mark{r}").touch()
        os.environ["BRIGADE_POISON"] = "1"
        self.addCleanup(os.environ.pop, "BRIGADE_POISON")
        self.read(made(0), "result")
        with self.assertRaisesRegex(brigade.RunError, 'shared tensor "result": replica \\d '
                                    "wrote beyond the end of its part"):
            self.read(made(1), "result")
        with self.assertRaisesRegex(brigade.RunError, "SIGSEGV"):
            self.read(made(4096), "result")

    def test_a_program_fills_what_is_its_own(self):
        made = graph("Fill", self.folder, {"w": {"dtype": "f64", "shape": [1000],
                                                 "init": "out.replica_0"}}, "w")
        made["stages"]["out"]["shared"] = "w"
        with brigade.open(made, tensors="numpy") as run:
            w = run.shared("w")
            self.assertFalse(w.initialised)
            numpy.asarray(w)[:] = numpy.arange(1000)
            w.set_initialised()
            data = numpy.concatenate([batch["data"].ravel().copy() for batch in run["out"]])
        self.assertEqual(data.tolist(), [i + 1 for i in range(1000)])

    def test_names_that_are_not_there(self):
        made = graph("Fill", self.folder, {"v": {"dtype": "f64", "shape": [1000]}}, "v")
        with self.assertRaisesRegex(brigade.RunError, 'the stage has no shared tensor "w"; write '
                                    "`shared: w` in the stage"):
            with brigade.open(made, tensors="numpy") as run:
                with self.assertRaisesRegex(ValueError, 'there is no shared tensor "w": the graph '
                                            'has "v"'):
                    run.shared("w")
                list(run["out"])

    def test_a_run_that_is_resumed_begins_with_what_was_saved(self):
        shared = {"w": {"dtype": "f64", "shape": [3], "save": str(self.folder / "w.npy")}}
        made = {"shared": shared, "epochs": 2, "stages": {
            "numbers": {"producer": "synthetic",
                        "params": {"count": 8, "shape": [1], "dtype": "f32"}, "batch": 4},
            "out": {"consumer": "application", "from": "numbers", "shared": "w"}}}
        with brigade.open(made, tensors="numpy") as run:
            numpy.asarray(run.shared("w"))[:] = [1, 2, 3]
            list(run["out"].epoch(0))
            state = run.state()
            list(run["out"])
        with brigade.open(made, tensors="numpy", state=state) as run:
            self.assertEqual(numpy.asarray(run.shared("w")).tolist(), [1, 2, 3])
            list(run["out"])
        with brigade.open(made, tensors="numpy") as run:  # another run saves there
            self.assertEqual(sum(batch.size for batch in run["out"]), 16)
        with self.assertRaisesRegex(brigade.RunError,
                                    "w.npy belongs to a different run than the given state"):
            with brigade.open(made, tensors="numpy", state=state) as run:
                list(run["out"])


class Orders(unittest.TestCase):
    """As C code asks for a buffer: Python's own functions take any order."""

    ANY, C, FORTRAN = 0x18, 0x38, 0x58  # PyBUF_STRIDES, PyBUF_C_CONTIGUOUS, PyBUF_F_CONTIGUOUS

    def ask(self, tensor, flags):
        buffer = ctypes.create_string_buffer(256)  # a Py_buffer has 80 bytes
        ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(tensor), buffer, flags)
        ctypes.pythonapi.PyBuffer_Release(buffer)

    def check(self, tensor):
        self.ask(tensor, self.ANY)
        self.ask(tensor, self.C)
        with self.assertRaisesRegex(BufferError, "it is in C order, not in Fortran order"):
            self.ask(tensor, self.FORTRAN)

    def test_none_but_c_s_is_given(self):
        made = {"shared": {"w": {"dtype": "f32", "shape": [3, 4]},
                           "line": {"dtype": "f32", "shape": [3]}}, "stages": {
            "tasks": {"producer": "application",
                      "tensors": {"x": {"dtype": "f32", "shape": [2, 2]}}, "batch": 1},
            "out": {"consumer": "application", "from": "tasks", "shared": ["w", "line"]}}}
        with brigade.open(made, epochs=1, tensors="dlpack") as run:
            self.check(run.shared("w"))
            self.ask(run.shared("line"), self.FORTRAN)  # of one dimension, it is both
            tasks = run.input("tasks")
            slot = tasks.acquire()
            self.check(slot._tensor("x"))
            slot.submit()
            tasks.close()
            for batch in run["out"]:
                self.check(batch["x"])


class Parameters(unittest.TestCase):
    def test_a_model_that_does_not_fit_says_what_would(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed (python3-torch)")
        made = {"shared": {"w": {"dtype": "f32", "shape": [10]}}, "stages": {
            "numbers": {"producer": "synthetic",
                        "params": {"count": 8, "shape": [1], "dtype": "f32"}, "batch": 4},
            "out": {"consumer": "application", "from": "numbers", "shared": "w"}}}
        with brigade.open(made, tensors="numpy") as run:
            w = run.shared("w")
            with self.assertRaisesRegex(ValueError, r"`shape: \[20\]`"):
                brigade.share_parameters(torch.nn.Linear(4, 4), w)
            layer, twin = torch.nn.Linear(4, 2), torch.nn.Linear(4, 2)
            before = layer.weight.detach().clone()
            brigade.share_parameters(layer, w, fill=True)
            brigade.share_parameters(twin, w)
            self.assertTrue(torch.equal(twin.weight, before))
            with torch.no_grad():
                layer.bias += 1
            self.assertTrue(torch.equal(twin.bias, layer.bias))
            self.assertTrue(numpy.asarray(w).any())
            list(run["out"])


if __name__ == "__main__":
    unittest.main(argv=["shared_test.py"])
