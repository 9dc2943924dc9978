"""Docstrings' examples, and tensors of other packages."""

import ctypes
import doctest
import importlib
import pathlib
import pkgutil
import shutil
import subprocess
import sys
import tempfile
import unittest

import brigade
from graphs import BATCH, SAMPLES, NeedsNumPy, graph


class Docstrings(unittest.TestCase):
    def test_examples_do_what_they_say(self):
        tried = 0
        for module in [brigade, *(importlib.import_module(f"brigade.{one.name}")
                                  for one in pkgutil.iter_modules(brigade.__path__)
                                  if one.name not in ("__main__", "_brigade"))]:
            result = doctest.testmod(module)
            self.assertEqual(result.failed, 0, module.__name__)
            tried += result.attempted
        self.assertGreater(tried, 10)


def loader(**options):
    return brigade.Loader(graph(), **options)


class NumPy(NeedsNumPy):
    def test_arrays_are_the_memory_of_the_graph(self):
        with loader(tensors="numpy") as batches:
            batch = next(iter(batches))
            array = batch["data"]
            self.assertEqual(array.shape, (BATCH, 3))
            self.assertEqual(array.dtype, self.numpy.float32)
            self.assertEqual(array[:, 0].astype(int).tolist(), batch.ids)
            array += 1  # the only reader may
            self.assertEqual(memoryview(batch.tensor("data"))[0, 0], array[0, 0])
            self.assertTrue((batch.row(2)["data"] == array[2]).all())

    def test_what_others_read_is_read_only(self):
        shared = graph(other={"consumer": "count", "from": "work"})
        with brigade.open(shared, tensors="numpy") as run:
            for batch in run["train"]:
                self.assertFalse(batch["data"].flags.writeable)
                self.assertFalse(self.numpy.from_dlpack(batch.tensor("data")).flags.writeable)

    def test_ragged_tensors_are_lists(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "lines.txt")
            path.write_text("one\nthree\n")
            text = {"stages": {"text": {"producer": "lines", "params": {"file": path}, "batch": 2}}}
            with brigade.Loader(text, "text", tensors="numpy") as batches:
                batch = next(iter(batches))
                name = batch.keys()[0]
                self.assertEqual([bytes(one) for one in batch[name]], [b"one", b"three"])
                self.assertEqual(bytes(batch.row(1)[name]), b"three")
                with self.assertRaisesRegex(BufferError, "batch.row"):
                    memoryview(batch.tensor(name))


class Torch(unittest.TestCase):
    def setUp(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed (python3-torch)")
        self.torch = torch

    def test_tensors_are_the_memory_of_the_graph(self):
        with loader() as batches:
            batch = next(iter(batches))
            self.assertIsInstance(batch["data"], self.torch.Tensor)
            self.assertEqual(batch["data"][:, 0].long().tolist(), batch.ids)
            batch["data"].mul_(2)
            self.assertEqual(memoryview(batch.tensor("data"))[1, 0], 2 * batch.ids[1])
            moved = batch.to("cpu")
            self.assertTrue((moved["data"] == batch["data"]).all())

    def test_autograd_keeps_what_it_needs(self):
        weight = self.torch.ones(3, 1, requires_grad=True)
        total = 0
        with loader(tensors="torch") as batches:
            for batch in batches:
                loss = (batch["data"] @ weight).sum()
                total += sum(batch.ids)
                del batch
                loss.backward()
        self.assertEqual(weight.grad[0].item(), total)
        self.assertEqual(total, SAMPLES * (SAMPLES - 1) // 2)

    def test_what_others_read_is_a_copy(self):
        shared = graph(other={"consumer": "application", "from": "work"})
        with brigade.open(shared, tensors="torch") as run:
            one, other = next(iter(run["train"])), next(iter(run["other"]))
            one["data"].zero_()
            self.assertEqual(other["data"][:, 0].long().tolist(), other.ids)


class Managed(ctypes.Structure):
    """DLPack's DLManagedTensor."""

    _fields_ = [("view", ctypes.c_char * 48), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p)]


class Capsules(unittest.TestCase):
    def test_a_deleter_takes_no_gil(self):
        """This thread has it, and waits for another, which lets go of the only batch there may be:
        were it to ask for the GIL, neither would go on."""
        held = ctypes.PyDLL(None)  # calls keep the GIL
        held.PyCapsule_GetPointer.restype = ctypes.c_void_p
        held.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        held.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
        held.pthread_create.argtypes = [ctypes.c_void_p] * 4
        held.pthread_join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]
        taken = b"used_dltensor"  # as who takes one calls it
        with loader(tensors="dlpack", hold=1) as batches:
            iterator = iter(batches)
            capsule = next(iterator).tensor("data").__dlpack__()
            at = held.PyCapsule_GetPointer(capsule, b"dltensor")
            held.PyCapsule_SetName(capsule, taken)
            with self.assertRaises(brigade.HeldError):
                next(iterator)
            thread = ctypes.c_ulong()
            deleter = Managed.from_address(at).deleter
            self.assertEqual(held.pthread_create(ctypes.byref(thread), None, deleter, at), 0)
            self.assertEqual(held.pthread_join(thread, None), 0)
            self.assertEqual(next(iterator).index, BATCH)


class Alone(unittest.TestCase):
    def test_without_numpy_and_torch(self):
        code = ("import sys; sys.modules['numpy'] = sys.modules['torch'] = None\n"
                "import brigade\n"
                "batch = next(iter(brigade.Loader(brigade.examples.NUMBERS)))\n"
                "print(batch['data'], memoryview(batch['data']).tolist()[3])\n"
                "print(batch.clone()['data'] == bytes(batch['data']))\n")
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((out.stdout, out.stderr),
                         ("Tensor(data: float32[4, 2]) [3.0, 3.0]\nTrue\n", ""))


class Versions(unittest.TestCase):
    """Package, module and library are of one version, or importing says which is not."""

    PACKAGE = pathlib.Path(brigade.__file__).parent

    def said_by_import(self, folder, **environment):
        code = ("try:\n    import brigade\nexcept ImportError as error:\n    print(error)\n"
                "else:\n    print('fits', brigade.__file__)\n")
        return subprocess.run([sys.executable, "-B", "-P", "-c", code], check=True, text=True,
                              env={"PYTHONPATH": str(folder), **environment},
                              stdout=subprocess.PIPE).stdout

    def copied(self, folder, version):
        """The package, as if it were of that version; module and library stay what they are."""
        made = pathlib.Path(folder, "brigade")
        made.mkdir()
        for file in self.PACKAGE.iterdir():
            (made / file.name).symlink_to(file.resolve())
        text = (made / "__init__.py").read_text()
        (made / "__init__.py").unlink()
        (made / "__init__.py").write_text(
            text.replace(f'"{brigade.__version__}"', f'"{version}"'))
        return folder

    def test_of_the_package(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("fits", self.said_by_import(self.copied(folder, brigade.__version__)))
        with tempfile.TemporaryDirectory() as folder:
            said = self.said_by_import(self.copied(folder, "9.8.7"))
            self.assertRegex(said, f"found package 9.8.7, module {brigade.__version__} and "
                             f"libbrigade {brigade.__version__}; reinstall the package")

    def test_of_the_library(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("there is no C compiler to make another library with")
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder, "other.so")
            subprocess.run([compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", other], text=True,
                           input='const char* brigade_version(void) { return "0.0.9"; }',
                           check=True)
            said = self.said_by_import(self.PACKAGE.parent, LD_PRELOAD=str(other))
        self.assertRegex(said, "and libbrigade 0.0.9; .*check LD_LIBRARY_PATH and LD_PRELOAD")

    def test_of_a_library_that_is_gone(self):
        with tempfile.TemporaryDirectory() as folder:
            self.copied(folder, brigade.__version__)
            module = pathlib.Path(folder, "brigade", "_brigade.abi3.so")
            content = module.read_bytes()
            module.unlink()
            module.write_bytes(content)  # which looks for native/lib beside itself
            pathlib.Path(folder, "brigade", "native").unlink()
            said = self.said_by_import(folder)
        self.assertRegex(said, "cannot load its library; reinstall the package "
                         r"\(libbrigade.so")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
