"""The seed of a sample is one number, whoever asks for it: Python or C++, whatever the replicas."""

import pathlib
import sys
import tempfile
import unittest

import brigade
import graphs  # noqa: F401, it silences what is logged

try:
    import numpy
except ImportError:
    numpy = None

PLUGIN = pathlib.Path(sys.argv[1], "tests", "plugins", "light.so")
STAGES = """
import brigade

@brigade.stage(outputs={"seed": "i64[]"})
def seeds(sample):
    return sample.seed() >> 1

@brigade.stage(outputs={"seed": "i64[]"})
def of_a_batch(sample):
    return [one.seed() >> 1 for one in sample]
"""


@unittest.skipIf(numpy is None, "NumPy is not installed (python3-numpy)")
class Seeds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.stages = pathlib.Path(folder.name, "stages.py")
        self.stages.write_text(STAGES)

    def read(self, python, cpp, call="seeds"):
        """The seeds of two epochs, those of Python and those of C++, in the order of the graph."""
        made = {"seed": 5, "epochs": 2, "stages": {
            "numbers": {"producer": "synthetic", "shuffle": True, "params": {"count": 60}},
            "python": {"transform": "python", "from": "numbers", "random": "same",
                       "params": {"call": f"{self.stages}:{call}"}, **python},
            "cpp": {"transform": "seeds", "plugin": str(PLUGIN), "from": "numbers",
                    "random": "same", **cpp},
            "end": {"consumer": "application", "join": "zip",
                    "from": {name: {"stage": name, "batch": 7} for name in ("python", "cpp")}}}}
        found = {"python.seed": [], "cpp.seed": []}
        with brigade.open(made, tensors="numpy") as run:
            for batch in run["end"]:
                for name, seeds in found.items():
                    seeds += batch[name].tolist()
            run.wait()
        return tuple(found.values())

    def test_is_the_same_in_cpp_and_in_python(self):
        python, cpp = self.read({}, {})
        self.assertEqual(python, cpp)
        self.assertEqual(len(set(python)), 120, "each sample of each epoch has its own")
        self.assertEqual(self.read({"replicas": 3}, {"replicas": 2}), (python, cpp))
        batches = {"from": {"stage": "numbers", "batch": 5}}
        self.assertEqual(self.read(batches, {}, call="of_a_batch"), (python, cpp))

    def test_differs_where_the_stream_of_random_numbers_does(self):
        python, cpp = self.read({"random": "another"}, {})
        self.assertFalse(set(python) & set(cpp))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
