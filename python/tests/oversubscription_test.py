"""`brigade doctor` names a running graph whose libraries start more threads than the cores, and
`brigade leases` the processes of its stages in Python."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import brigade
import graphs  # noqa: F401, it silences what is logged
import processes

try:
    import torch
except ImportError:
    torch = None

PROGRAM = pathlib.Path(brigade.__file__).parent / "native" / "bin" / "brigade"
CORES = len(os.sched_getaffinity(0))
TEAMS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")  # the latter counts for torch
STAGE = """
import brigade, torch
numbers = torch.ones(1 << 21)

@brigade.stage(outputs={"data": "=data"})
def work(data):
    for _ in range(20):
        torch.exp(numbers)
    return data
"""


@unittest.skipIf(torch is None, "torch is not installed (python3-torch)")
class Doctor(unittest.TestCase):
    def said_of(self, threads):
        """What the doctor says while a graph runs whose workers have so many threads each, None:
        as many as its budget gives them."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "stages.py").write_text(STAGE)
            made = {"name": "crowd", "stages": {
                "numbers": {"producer": "synthetic",
                            "params": {"count": 1000000, "shape": [1], "dtype": "f32"}},
                "work": {"transform": "python", "from": "numbers", "replicas": 2, "chunk": 1,
                         "params": {"call": f"{folder}/stages.py:work"},
                         "env": {name: str(threads) for name in TEAMS if threads}},
                "out": {"consumer": "application", "from": {"stage": "work", "batch": 1}}}}
            with brigade.open(made, tensors="torch") as run:
                batches = iter(run["out"])
                for _ in range(4):
                    next(batches)
                self.check_leases()
                doctor = subprocess.Popen([PROGRAM, "doctor"], stdout=subprocess.PIPE, text=True)
                while doctor.poll() is None:
                    next(batches)
                return doctor.communicate()[0]

    def check_leases(self):
        listed = subprocess.run([PROGRAM, "leases", str(os.getpid())], check=True, text=True,
                                stdout=subprocess.PIPE).stdout
        named = {int(line.split()[1]) for line in listed.splitlines()
                 if line.startswith("work.")}
        self.assertEqual(len(named), 2, listed)
        self.assertLessEqual(named, set(processes.children()), listed)

    def test_teams_of_libraries_are_named_and_the_budget_has_none(self):
        said = self.said_of(3 * CORES)
        self.assertRegex(said, r"graph crowd +\d+ busy threads on \d+ cores?: \d+ in work\.0")
        self.assertNotIn("busy threads", self.said_of(None))


if __name__ == "__main__":
    unittest.main(argv=["oversubscription_test.py"])
