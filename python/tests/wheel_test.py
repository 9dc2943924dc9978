"""The wheel, as a user installs it: in an empty environment, no compiler and no build in reach.

    wheel_test.py BUILD
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

BUILD = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path("build/release")
ROOT = pathlib.Path(__file__).resolve().parents[2]
WHEEL = ROOT / "tools" / "wheel.py"
TOOLS = BUILD.resolve().parent / "wheel_tools" / "bin"  # of `./dev package --wheel`
PICTURES = ("420.jpg", "422.jpg", "alpha.png", "expected_00.png")
SECONDS_MAX = 60  # that a user waits, from `pip install` to what the loop prints
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13)}  # of manylinux_2_34
LOOP = """
import pathlib, sys
import brigade
assert pathlib.Path(brigade.__file__).is_relative_to(sys.prefix), brigade.__file__
with brigade.Loader(brigade.examples.NUMBERS) as loader:
    print([batch.ids for batch in loader])
pictures = {"stages": {
    "files": {"producer": "image_folder", "params": {"root": "pictures"}},
    "images": {"transform": "decode_image", "from": "files", "batch": 3,
               "params": {"crop": "center", "resize": 40, "size": 32}}}}
with brigade.Loader(pictures, "images") as loader:
    print([tuple(batch["image"].shape) for batch in loader])
"""

ANOTHER = """
import sys
sys.modules["numpy"] = sys.modules["torch"] = None  # as where they are not installed
import brigade
with brigade.Loader(brigade.examples.NUMBERS) as loader:
    print(*(memoryview(batch["data"]).tolist() for batch in loader))
with brigade.DataLoader(range(5), batch_size=2, num_workers=1, collate_fn=list) as loader:
    print(*loader)
print("%d.%d" % sys.version_info[:2], brigade.__file__)
"""
IS_CPYTHON = """
import sys, sysconfig
sys.exit(sys.implementation.name != "cpython" or bool(sysconfig.get_config_var("Py_GIL_DISABLED")))
"""


def other_pythons():
    """{"3.12": path}: CPythons with the stable ABI of 3.11, in PATH and of pyenv, but this one."""
    folders = [pathlib.Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    folders += sorted(pathlib.Path.home().glob(".pyenv/versions/*/bin"))
    found = {}
    for path in (path for folder in folders for path in folder.glob("python3.[1-9][0-9]")):
        version = path.name.removeprefix("python")
        minor = int(version.partition(".")[2])
        if minor >= 11 and minor != sys.version_info.minor and version not in found and \
                subprocess.run([path, "-c", IS_CPYTHON], capture_output=True).returncode == 0:
            found[version] = path
    return found


class Wheel(unittest.TestCase):
    def made(self, folder, *options, path=os.environ["PATH"]):
        subprocess.run([sys.executable, WHEEL, BUILD, folder, *options], check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "PATH": path})
        (wheel,) = pathlib.Path(folder).glob("*.whl")
        return wheel

    def check_in_an_empty_environment(self, wheel, folder):
        """Neither a compiler nor the system's programs are in PATH."""
        subprocess.run([sys.executable, "-m", "venv", f"{folder}/venv"], check=True)
        pictures = pathlib.Path(folder, "pictures", "one")
        pictures.mkdir(parents=True)
        for name in PICTURES:
            shutil.copy(ROOT / "tests" / "golden" / "images" / name, pictures)
        until = time.monotonic() + SECONDS_MAX

        def run(program, *arguments):
            done = subprocess.run([f"{folder}/venv/bin/{program}", *arguments], text=True,
                                  capture_output=True, timeout=until - time.monotonic(), cwd=folder,
                                  env={"PATH": f"{folder}/venv/bin", "HOME": str(folder)})
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

        run("pip", "-q", "install", "--no-index", str(wheel))
        self.assertEqual(run("python", "-c", LOOP), "[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]\n"
                         "[(3, 32, 32, 3), (1, 32, 32, 3)]\n")
        self.assertRegex(run("brigade", "stages"), r"(?s)synthetic.*decode_image")

    def test_old_systems_have_what_it_asks_for(self):
        with tempfile.TemporaryDirectory(prefix="wheel_") as folder:
            zipfile.ZipFile(self.made(folder, "--plain")).extractall(folder)
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
            wheel = self.made(folder, "--plain")
            self.assertLessEqual({"brigade/py.typed", "brigade/__init__.pyi"},
                                 set(zipfile.ZipFile(wheel).namelist()))
            self.check_in_an_empty_environment(wheel, folder)

    def test_runs_with_other_versions_of_python(self):
        pythons = other_pythons()
        if not pythons:
            self.skipTest("no CPython from 3.11 on is in PATH or pyenv, but this one")
        with tempfile.TemporaryDirectory(prefix="wheel_") as folder:
            zipfile.ZipFile(self.made(folder, "--plain")).extractall(folder)
            pathlib.Path(folder, "brigade", "native", "bin", "brigade").chmod(0o755)
            for version, python in pythons.items():
                with self.subTest(version):
                    done = subprocess.run([python, "-B", "-c", ANOTHER], text=True, cwd=folder,
                                          capture_output=True, timeout=SECONDS_MAX,
                                          env={"PYTHONPATH": folder, "HOME": folder})
                    self.assertEqual(done.returncode, 0, done.stderr)
                    rows = [[[float(i), float(i)] for i in range(at, at + 4)] for at in (0, 4, 8)]
                    self.assertEqual(done.stdout, f"{rows[0]} {rows[1]} {rows[2]}\n"
                                     "[0, 1] [2, 3] [4]\n"
                                     f"{version} {folder}/brigade/__init__.py\n")

    def test_with_its_libraries_it_runs_and_is_of_manylinux_2_34(self):
        if not (TOOLS / "auditwheel").exists():
            self.skipTest("./dev package --wheel has not fetched auditwheel")
        with tempfile.TemporaryDirectory(prefix="wheel_") as folder:
            wheel = self.made(folder, path=f"{TOOLS}:{os.environ['PATH']}")
            self.assertRegex(wheel.name, "-cp311-abi3-manylinux_2_34_")
            taken = " ".join(zipfile.ZipFile(wheel).namelist())
            self.assertRegex(taken, r"brigade\.libs/libjpeg-")
            self.assertRegex(taken, r"brigade\.libs/libpng")
            self.check_in_an_empty_environment(wheel, folder)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
