"""Programs whose arguments or folder have what a graph would read as its own."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from processes import WITH_TESTS

PROGRAM = """
import os, sys
import brigade
class Seen:
    def __len__(self): return 1
    def __getitem__(self, i): return sys.argv, os.getcwd(), sys.path
if __name__ == "__main__":
    with brigade.DataLoader(Seen(), num_workers=1, collate_fn=list,
                            multiprocessing_context=sys.argv[1] or None) as loader:
        ((seen,),) = loader
    assert seen == (sys.argv, os.getcwd(), sys.path), seen
"""
ODD = ["path=${oc.env:DATA}", "${DATA}", "price=$$5", "$1", "%include", "{}: -", "\udcff", "é\n'\""]


class OddArguments(unittest.TestCase):
    def runs(self, folder, *arguments):
        file = pathlib.Path(folder, "program.py")
        file.write_text(PROGRAM)
        for context in ("", "spawn"):
            with self.subTest(context=context):
                done = subprocess.run([sys.executable, file, context, *arguments], cwd=folder,
                                      capture_output=True, env=WITH_TESTS, timeout=120, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_arguments_reach_workers_as_they_are(self):
        with tempfile.TemporaryDirectory() as folder:
            self.runs(folder, *ODD)

    def test_folders_may_have_such_names(self):
        for name in ("a${x}b", "c$$d", "\udcff"):
            with self.subTest(ascii(name)), tempfile.TemporaryDirectory() as outer:
                folder = os.path.join(outer, name)
                os.mkdir(folder)
                self.runs(folder)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
