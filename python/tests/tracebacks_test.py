"""Errors in what users have written name their own file and line, whatever process ran it."""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

from processes import WITH_TESTS

CLOUDPICKLE = importlib.util.find_spec("cloudpickle") is not None
SCRIPT = """\
import brigade, sys

class Squares:
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return i * i if i < 3 else 1 / 0

def in_function():
    class Local(Squares): __module__ = "elsewhere"
    return Local()

def read(dataset, **options):
    options = {"num_workers": 1, "multiprocessing_context": "spawn", **options}
    return list(brigade.DataLoader(dataset, **options))

"""


class Tracebacks(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def error_of(self, code, *arguments):
        """What a script that fails says, line by line."""
        script = self.folder / "train.py"
        script.write_text(SCRIPT + textwrap.dedent(code))
        done = subprocess.run([sys.executable, *(arguments or [script.name])], text=True,
                              capture_output=True, env=WITH_TESTS, cwd=self.folder, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        return [line.strip() for line in done.stderr.splitlines()]

    def with_cloudpickle(self):
        if not CLOUDPICKLE:
            self.skipTest("cloudpickle is not installed (python3-cloudpickle)")

    def test_of_a_worker_name_the_line_of_the_script(self):
        self.with_cloudpickle()
        for code in ("read(Squares())", "import os; os.chdir('/'); read(in_function())"):
            error = self.error_of(code)
            place = error.index(f'File "{self.folder}/train.py", line 8, in __getitem__')
            self.assertEqual(error[place + 1], "return i * i if i < 3 else 1 / 0")

    def test_of_a_worker_have_the_source_of_what_is_in_no_file(self):
        """As the cells of a notebook are."""
        self.with_cloudpickle()
        error = self.error_of("", "-c", textwrap.dedent("""
            import linecache
            code = open("train.py").read() + "read(Squares())"
            linecache.cache["<cell 7>"] = (len(code), None, code.splitlines(True), "<cell 7>")
            exec(compile(code, "<cell 7>", "exec"))
            """))
        place = error.index('File "<cell 7>", line 8, in __getitem__')
        self.assertEqual(error[place + 1], "return i * i if i < 3 else 1 / 0")

    def test_without_cloudpickle_say_what_needs_it(self):
        for code, name, where in (
                ("Squares()", "Squares", "in __main__, which workers do not run"),
                ("in_function()", "in_function.<locals>.Local", "inside a function"),
                ("range(3), collate_fn=lambda batch: batch", "<lambda>",
                 "in __main__, which workers do not run"),
                ("range(3), collate_fn=as_in_a_module", "<lambda>", "as a lambda")):
            error = self.error_of(f"""
                sys.modules["cloudpickle"] = None
                as_in_a_module = lambda batch: batch
                as_in_a_module.__module__ = "elsewhere"
                read({code})
                """)
            self.assertTrue(error[-1].endswith(
                f"{name} is defined {where}; install cloudpickle (pip install cloudpickle), or "
                "move it to the top of a module"), error[-1])

    def test_of_a_stage_have_the_line_of_its_file(self):
        (self.folder / "stages.py").write_text(
            "import brigade\n@brigade.stage(outputs={})\n"
            "def check(data):\n    assert len(data) < 3\n")
        error = self.error_of("""
            graph = {"stages": {
                "numbers": {"producer": "synthetic", "params": {"shape": [3], "dtype": "f32"}},
                "check": {"transform": "python", "from": "numbers",
                          "params": {"call": "stages.py:check"}}}}
            next(iter(brigade.Loader(graph, "check", limit=1)))
            """)
        self.assertTrue(error[-1].endswith("AssertionError: no message (stages.py:4: assert "
                                           "len(data) < 3)"), error[-1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
