"""The wheel, as a user installs it: in an empty environment, no compiler and no build in reach.

    wheel_test.py BUILD
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

BUILD = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path("build/release")
WHEEL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "wheel.py"
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13)}  # of manylinux_2_34
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

    def test_old_systems_have_what_it_asks_for(self):
        with tempfile.TemporaryDirectory(prefix="wheel_") as folder:
            subprocess.run([sys.executable, WHEEL, BUILD, folder, "--plain"], check=True)
            (wheel,) = pathlib.Path(folder).glob("*.whl")
            zipfile.ZipFile(wheel).extractall(folder)
            asked = {}
            for file in (path for path in pathlib.Path(folder).rglob("*")
                         if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"):
                said = subprocess.run(["objdump", "-p", file], check=True, capture_output=True,
                                      text=True).stdout
                for library, version in re.findall(r"\b(GLIBC|GLIBCXX|CXXABI)_([0-9.]+)", said):
                    asked.setdefault(library, set()).add((file.name, version))
            self.assertEqual(asked.keys(), NEWEST.keys())
            for library, versions in asked.items():
                for name, version in versions:
                    self.assertLessEqual(tuple(map(int, version.split("."))), NEWEST[library], name)

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
