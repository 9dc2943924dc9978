"""What a Python stage returns in another dtype than it declares: told with what fits its values."""

import pathlib
import sys
import tempfile
import unittest

import brigade
import graphs  # noqa: F401, it silences what is logged
from brigade import _cast

try:
    import numpy
except ImportError:
    print("skipped: NumPy is not installed (python3-numpy)")
    sys.exit(77)

STAGES = """\
import brigade
import numpy

@brigade.stage(outputs={"image": "u8[2, 2, 3]"})
def levels(data):
    return numpy.full((2, 2, 3), 0.5, "f4")

@brigade.stage(outputs={"image": "u8[<=4]"})
def ragged(data):
    return [numpy.linspace(0, 1, 3 + i % 2) for i in range(len(data))]

@brigade.stage(outputs={"x": "bf16[3]"})
def halves(data):
    return data
"""


def copied(values, dtype):
    """The output, or the text of the error."""
    view = numpy.zeros(numpy.shape(values), dtype)
    try:
        _cast.copy_to(view, numpy.asarray(values), "x", numpy)
    except (TypeError, OverflowError) as error:
        return str(error)
    return view


class Cast(unittest.TestCase):
    def test_levels_from_0_to_1_are_scaled(self):
        for values in ([0, .25, 1], [.2, .7, .5], [-1e-7, .5, 1 + 1e-6]):
            with self.subTest(values=values):
                said = copied(numpy.array(values, "f4"), "u1")
                self.assertRegex(said, r"^x is uint8, found float32 with values from \S+ to \S+; "
                                 r'return \(x \* 255\)\.round\(\)\.astype\("uint8"\), or declare '
                                 r"f32 for it in `outputs`$")
        self.assertRegex(copied([0., 1., 1.], "u1"),
                         r'all of them 0 or 1; return x\.astype\("uint8"\) for class numbers, or '
                         r'\(x \* 255\)\.astype\("uint8"\) if 1 is white, or')

    def test_the_advice_fits_the_values(self):
        for values, dtype, said in (
                ([0, 100.5, 255], "u1", r'from 0 to 255; return x\.round\(\)\.astype\("uint8"\), '),
                ([0, 7., 255], "u1", r'from 0 to 255; return x\.astype\("uint8"\), or declare f64'),
                ([-2.1, 0, 2.6], "u1", r"from -2\.1 to 2\.6, which uint8 cannot hold; scale them "
                 r'to 0 to 255 and return x\.astype\("uint8"\), or declare f64 '),
                ([-.5, .5], "i1", "whose fractions int8 cannot hold; scale them and return"),
                ([0, numpy.nan], "u1", "NaN or infinite values, which uint8 cannot hold; replace"),
                ([numpy.inf, 1], "i8", "NaN or infinite values, which int64 cannot hold"),
                ([3, 4], "u1", r'found int64 with values from 3 to 4; return x\.astype\("uint8"\)'),
                ([3, -4], "u1", "found int64 with values from -4 to 3, which uint8 cannot hold"),
                ([.2, .7], "?", "found float64; return a comparison, such as x > 0.5"),
                ([1j, 2], "f4", r'found complex128; .* abs\(x\)\.astype\("float32"\)$'),
                (["a", "b"], "f4", "found <U1; return numbers"),
                (numpy.zeros((0, 3)), "u1", "not converted automatically")):
            with self.subTest(values=values, dtype=dtype):
                self.assertRegex(copied(values, dtype), said)

    def test_no_whole_number_changes_its_value(self):
        for values, dtype in ((numpy.array([0, 256], "u2"), "u1"), (numpy.array([70_000]), "i2"),
                              (numpy.array([-129]), "i1")):
            self.assertRegex(copied(values, dtype), f"which {numpy.dtype(dtype)} cannot hold")
        for values, dtype in ((numpy.array([0, 255], "u2"), "u1"), (numpy.array([32_767]), "i2"),
                              ([-128, 127], "i1"), ([7], "f4"), ([True, False], "u1"),
                              ([.1], "f4"), (numpy.zeros(0, "i8"), "i2")):
            self.assertEqual(copied(values, dtype).tolist(),
                             numpy.asarray(values).astype(dtype).tolist())

    def test_a_run_says_it(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "stages.py"
            file.write_text(STAGES)
            for name, batch, said in (
                    ("levels", 0, r"image is uint8, found float32 with values from 0\.5 to 0\.5; "
                     r'return \(image \* 255\)\.round\(\)\.astype\("uint8"\)'),
                    ("ragged", 5, r"image is uint8, found float64 with values from 0 to 1; return "
                     r"\(image \* 255\)"),
                    ("halves", 0, "expected bfloat16, which NumPy does not support, found ")):
                graph = {"stages": {
                    "numbers": {"producer": "synthetic",
                                "params": {"count": 9, "shape": [3], "dtype": "f32"}},
                    "work": {"transform": "python", "params": {"call": f"{file}:{name}"},
                             "from": {"stage": "numbers", **({"batch": batch} if batch else {})}},
                    "end": {"consumer": "application", "from": {"stage": "work", "batch": 3}}}}
                with self.subTest(name), self.assertRaisesRegex(brigade.RunError, said):
                    with brigade.Loader(graph, tensors="numpy") as loader:
                        list(loader)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
