"""The wheel, as a user installs it: in an empty environment, no compiler and no build in reach.

    wheel_test.py BUILD
"""

import email
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
PICTURES = ("jpeg/420.jpg", "jpeg/422.jpg", "alpha.png", "expected/00.png")
HANG_SECONDS = 300  # from `pip install` to what the loop prints is a matter of seconds
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


def page_of(wheel):
    """(what the wheel says of itself, its page)."""
    files = zipfile.ZipFile(wheel)
    (name,) = (name for name in files.namelist() if name.endswith(".dist-info/METADATA"))
    said = email.message_from_bytes(files.read(name))
    return said, said.get_payload()


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
        until = time.monotonic() + HANG_SECONDS

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
        self.assertIn("# ", run("python", "-m", "brigade", "docs", "TUTORIAL"))
        said = run("python", "-m", "brigade", "init", "--synthetic", "--out", "made.yaml")
        self.assertIn("wrote made.yaml; ", said)
        self.assertIn("ok", run("python", "-m", "brigade", "check", "made.yaml"))
        (pictures.parent / "two").mkdir()
        for picture in list(pictures.iterdir()):  # enough to keep a tenth apart
            shutil.copy(picture, pictures.parent / "two")
            shutil.copy(picture, pictures / f"again_{picture.name}")
        self.assertRegex(run("brigade", "init", "pictures"),
                         "\ntrain.py does not run yet: .*/venv/bin/python3? lacks torch: "
                         ".*/venv/bin/python3? -m pip install torch\n$")
        self.assertIn("pictures.yaml: ok", run("brigade", "check", "pictures.yaml"))

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

    def test_says_what_it_is_and_what_else_may_be_installed(self):
        with tempfile.TemporaryDirectory(prefix="wheel_") as folder:
            said, page = page_of(self.made(folder, "--plain"))
        self.assertEqual(said["Description-Content-Type"], "text/markdown")
        self.assertEqual(said.get_all("Provides-Extra"), ["numpy", "torch"])
        self.assertEqual([one for one in said.get_all("Requires-Dist") if "torch" in one],
                         [f'{name}; extra == "torch"' for name in
                          ("numpy", "cloudpickle", "torch")])
        self.assertTrue(page.startswith("# Brigade\n"), page[:80])
        links = re.findall(r"\]\(([^)]*)\)", page)
        self.assertEqual([one for one in links if not re.match("https?://|#", one)], [])
        for name in re.findall(r"`brigade docs (\w+)`", page):
            self.assertTrue((ROOT / "docs" / f"{name}.md").exists(), name)
        self.assertIn("`brigade docs TUTORIAL`", page)

    def test_with_a_homepage_its_page_links_there(self):
        """What `./dev build -DBRIGADE_HOMEPAGE=...` leaves in the build."""
        with tempfile.TemporaryDirectory(prefix="wheel_") as folder:
            pathlib.Path(folder, "CMakeCache.txt").write_text(
                "BRIGADE_HOMEPAGE:STRING=https://example.org/brigade\n")
            sys.path.insert(0, str(WHEEL.parent))
            import wheel
            said = email.message_from_string(wheel.metadata(pathlib.Path(folder)))
        files = f"https://example.org/brigade/blob/v{said['Version']}"
        self.assertEqual(said.get_all("Project-URL"), ["Homepage, https://example.org/brigade",
                                                       f"Changelog, {files}/CHANGELOG.md"])
        self.assertIn(f"]({files}/docs/TUTORIAL.md)", said.get_payload())

    def test_the_environment_of_a_user_builds_a_stage_and_a_program(self):
        for tool in ("cmake", "c++"):
            if shutil.which(tool) is None:
                self.skipTest(f"{tool} is not installed")
        with tempfile.TemporaryDirectory(prefix="wheel_") as folder:
            zipfile.ZipFile(self.made(folder, "--plain")).extractall(folder)
            native = pathlib.Path(folder, "brigade", "native")
            (native / "bin" / "brigade").chmod(0o755)

            def run(*words):
                done = subprocess.run(words, text=True, capture_output=True, cwd=folder,
                                      env={**os.environ, "PYTHONPATH": folder})
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                return done.stdout

            prefix = run(sys.executable, "-c", "import brigade; print(brigade.cmake_prefix_path)")
            self.assertEqual(pathlib.Path(prefix.strip()), native)
            for kind, name in (("stage", "twice"), ("program", "reads")):
                said = run(sys.executable, "-m", "brigade", "init", kind, name)
                build = re.search(rf"\n  (cmake -S {name} .*)\n", said)[1].split()
                self.assertEqual(build[-1], f"-DCMAKE_PREFIX_PATH={native}")
                run(*build, "-DCMAKE_BUILD_TYPE=Debug")
                run("cmake", "--build", f"{name}/build")
                run("ctest", "--test-dir", f"{name}/build", "--no-tests=error")
            run(sys.executable, "-m", "brigade", "run", "twice/twice.yaml")

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
                                          capture_output=True, timeout=HANG_SECONDS,
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
