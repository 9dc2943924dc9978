"""Tensors of a graph where libraries expect an array: NumPy, torch, JAX."""

import sys
import types
import unittest
from unittest import mock

import brigade
from graphs import NeedsNumPy

BATCH, COLUMNS = 4, 3
DTYPES = {"bool": "bool", "u8": "uint8", "i8": "int8", "i16": "int16", "i32": "int32",
          "i64": "int64", "f16": "float16", "f32": "float32", "f64": "float64"}


def tensor_of(test, dtype, **stages):
    run = brigade.open({"stages": {
        "numbers": {"producer": "synthetic", "batch": BATCH,
                    "params": {"count": 2 * BATCH, "shape": [COLUMNS], "dtype": dtype}},
        "train": {"consumer": "application", "from": "numbers"}, **stages}}, tensors="dlpack")
    test.addCleanup(run.close)
    return next(iter(run["train"]))["data"]


class NumPy(NeedsNumPy):
    def test_asarray_takes_each_dtype(self):
        for dtype, name in DTYPES.items():
            tensor = tensor_of(self, dtype)
            array = self.numpy.asarray(tensor)
            self.assertEqual((array.shape, str(array.dtype)), ((BATCH, COLUMNS), name))
            self.assertEqual(array.tobytes(), bytes(tensor))
            self.assertEqual(self.numpy.asarray(tensor, dtype="float64").dtype, "float64")

    def test_bfloat16_without_ml_dtypes_is_an_error_that_says_what_to_do(self):
        tensor = tensor_of(self, "bf16")
        with mock.patch.dict(sys.modules, ml_dtypes=None):
            for call in (self.numpy.asarray, self.numpy.array):
                with self.assertRaisesRegex(TypeError, "data: NumPy does not support bfloat16; "
                                            "install ml_"):
                    call(tensor)

    def test_bfloat16_is_the_dtype_of_ml_dtypes_in_the_memory_of_the_graph(self):
        bfloat16 = self.numpy.dtype("V2")  # in its place
        tensor = tensor_of(self, "bf16")
        with mock.patch.dict(sys.modules, ml_dtypes=types.SimpleNamespace(bfloat16=bfloat16)):
            array = self.numpy.asarray(tensor)
            self.assertEqual((array.shape, array.dtype), ((BATCH, COLUMNS), bfloat16))
            array.view("int16")[0, 0] = 0x3F80
            self.assertEqual(self.numpy.asarray(tensor).view("int16")[0, 0], 0x3F80)
            copy = self.numpy.array(tensor)
            copy.view("int16")[0, 0] = 0
            self.assertEqual(self.numpy.asarray(tensor).view("int16")[0, 0], 0x3F80)

    def test_what_others_read_is_read_only(self):
        fake = types.SimpleNamespace(bfloat16=self.numpy.dtype("V2"))
        for dtype in ("f32", "bf16"):
            tensor = tensor_of(self, dtype, other={"consumer": "count", "from": "numbers"})
            with mock.patch.dict(sys.modules, ml_dtypes=fake):
                self.assertFalse(self.numpy.asarray(tensor).flags.writeable)

    def test_what_has_no_buffer_is_an_error_and_no_object(self):
        loader = brigade.Loader({"stages": {
            "text": {"producer": "lines", "params": {"file": __file__}, "batch": 2},
            "train": {"consumer": "application", "from": "text"}}}, tensors="dlpack")
        self.addCleanup(loader.close)
        batch = next(iter(loader))
        with self.assertRaisesRegex(BufferError, r"ragged; read it from batch.row\(i\)"):
            self.numpy.asarray(batch.tensor(batch.keys()[0]))


class Torch(unittest.TestCase):
    def test_from_dlpack_takes_bfloat16(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed (python3-torch)")
        from torch.utils.dlpack import from_dlpack
        made = from_dlpack(tensor_of(self, "bf16"))
        self.assertEqual((made.dtype, tuple(made.shape)), (torch.bfloat16, (BATCH, COLUMNS)))


class JAX(NeedsNumPy):
    def setUp(self):
        super().setUp()
        try:
            import jax
        except ImportError:
            self.skipTest("JAX is not installed (pip install jax)")
        self.jax = jax

    def test_takes_a_tensor_where_it_takes_an_array(self):
        jax, numpy = self.jax, self.jax.numpy
        calls = {"asarray": numpy.asarray, "array": numpy.array, "device_put": jax.device_put,
                 "jit": jax.jit(lambda x: x), "from_dlpack": jax.dlpack.from_dlpack,
                 "add": lambda x: numpy.maximum(x, x)}
        for dtype in [*DTYPES, "bf16"]:
            if dtype in ("i64", "f64"):
                continue  # JAX makes 32 bits of them
            tensor = tensor_of(self, dtype)
            for name, call in calls.items():
                with self.subTest(call=name, dtype=dtype):
                    made = call(tensor)
                    self.assertIsInstance(made, jax.Array)
                    self.assertEqual((made.shape, str(made.dtype)), (tensor.shape, tensor.dtype))
                    self.assertEqual(self.numpy.asarray(made).tobytes(),
                                     self.numpy.asarray(tensor).tobytes())

    def test_64_bits_become_32_as_with_an_array(self):
        tensor = tensor_of(self, "i64")
        for call in (self.jax.numpy.asarray, self.jax.device_put, self.jax.jit(lambda x: x)):
            self.assertEqual(call(tensor).dtype, "int32")

    def test_a_batch_of_them_is_an_argument(self):
        batch = {"x": tensor_of(self, "f32"), "y": tensor_of(self, "bf16")}
        made = self.jax.jit(lambda batch: batch["x"].sum() + batch["y"].sum())(batch)
        self.assertEqual(float(made), float(self.numpy.asarray(batch["x"]).sum() +
                                            self.numpy.asarray(batch["y"]).astype("f4").sum()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
