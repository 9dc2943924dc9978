"""Python stages in folders whose names are not UTF-8."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import brigade

try:
    import numpy  # noqa: F401
except ImportError:
    print("skipped: NumPy is not installed (python3-numpy)")
    sys.exit(77)

PROGRAM = pathlib.Path(brigade.__file__).parent / "native" / "bin" / "brigade"
STAGE = """\
import brigade
@brigade.stage(outputs={"data": "=data"})
def same(data):
    return data
"""
GRAPH = """\
stages:
  a: {producer: synthetic, params: {count: 5, shape: [2]}}
  b: {transform: python, from: a, params: {call: "stages.py:same"}}
  c: {consumer: count, from: b}
"""


class OddFolders(unittest.TestCase):
    def test_a_stage_in_a_folder_that_is_no_utf_8(self):
        with tempfile.TemporaryDirectory() as parent:
            folder = os.fsencode(parent) + b"/caf\xe9"
            os.mkdir(folder)
            for name, text in ((b"/stages.py", STAGE), (b"/graph.yaml", GRAPH)):
                with open(folder + name, "w") as file:
                    file.write(text)
            for command, said in (("check", "graph.yaml: ok: 3 stages"), ("plan", "b -> c"),
                                  ("run", "c: samples 5")):
                with self.subTest(command):
                    ran = subprocess.run(
                        [PROGRAM, command, "graph.yaml"], cwd=folder, capture_output=True,
                        text=True, timeout=120, env={
                            **os.environ, "BRIGADE_PYTHON": sys.executable, "PYTHONPATH":
                            str(pathlib.Path(brigade.__file__).parents[1])})
                    self.assertEqual(ran.returncode, 0, ran.stderr)
                    self.assertIn(said, ran.stdout + ran.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
