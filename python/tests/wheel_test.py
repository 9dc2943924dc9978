"""The wheel, as a user installs it: in an empty environment, no compiler and no build in reach.

    wheel_test.py BUILD
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path("build/release")
WHEEL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "wheel.py"
LOOP = """
import pathlib, sys
import brigade
assert pathlib.Path(brigade.__file__).is_relative_to(sys.prefix), brigade.__file__
with brigade.Loader(brigade.examples.NUMBERS) as loader:
    print([batch.ids for batch in loader])
"""


class Wheel(unittest.TestCase):
    def run_in(self, folder, *command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder,
                              env={"PATH": f"{folder}/venv/bin", "HOME": str(folder)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_runs_where_nothing_else_is(self):
        with tempfile.TemporaryDirectory(prefix="wheel_") as folder:
            subprocess.run([sys.executable, WHEEL, BUILD, folder, "--plain"], check=True)
            (wheel,) = pathlib.Path(folder).glob("*.whl")
            subprocess.run([sys.executable, "-m", "venv", f"{folder}/venv"], check=True)
            self.run_in(folder, f"{folder}/venv/bin/pip", "-q", "install", "--no-index", str(wheel))
            said = self.run_in(folder, f"{folder}/venv/bin/python", "-c", LOOP)
            self.assertEqual(said, "[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]\n")
            self.assertIn("synthetic", self.run_in(folder, f"{folder}/venv/bin/brigade", "stages"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
