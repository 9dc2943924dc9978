"""brigade.DataLoader in a process that multiprocessing has spawned, which has the program's classes
in a module called __mp_main__."""

import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

from processes import WITH_TESTS

PROGRAM = """
import multiprocessing, sys
import brigade

class Value:
    def __init__(self, i): self.i = i

class Values:
    def __len__(self): return 4
    def __getitem__(self, i): return Value(i)

def train(pickler):
    sys.modules.update({"cloudpickle": None} if pickler == "plain" else {})
    collate = list if pickler == "plain" else lambda batch: batch
    loader = brigade.DataLoader(Values(), 2, num_workers=1, collate_fn=collate)
    try:
        with loader:
            print([[isinstance(one, Value) and one.i for one in batch] for batch in loader])
    except TypeError as error:
        print(error)
    if pickler == "cloudpickle":
        import cloudpickle
        print(cloudpickle.loads(cloudpickle.dumps(Value)) is Value,
              "__mp_main__" in cloudpickle.list_registry_pickle_by_value())

if __name__ == "__main__":
    child = multiprocessing.get_context(sys.argv[1]).Process(target=train, args=(sys.argv[2],))
    child.start()
    child.join()
"""


class Spawned(unittest.TestCase):
    def said(self, method, pickler):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "program.py")
            file.write_text(textwrap.dedent(PROGRAM))
            done = subprocess.run([sys.executable, file, method, pickler], capture_output=True,
                                  text=True, env=WITH_TESTS, timeout=120, check=False)
        return done.stdout, done.stderr

    def test_classes_and_lambdas_of_the_program(self):
        try:
            import cloudpickle  # noqa: F401
        except ImportError:
            self.skipTest("cloudpickle is not installed (python3-cloudpickle)")
        for method in ("spawn", "forkserver"):
            with self.subTest(method):
                out, error = self.said(method, "cloudpickle")
                self.assertEqual(out, "[[0, 1], [2, 3]]\nTrue False\n", error)

    def test_without_cloudpickle_they_are_named(self):
        out, error = self.said("spawn", "plain")
        self.assertIn("Values is defined in __main__, which workers do not run", out, error)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
