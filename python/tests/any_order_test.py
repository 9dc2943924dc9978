"""`order: any`: a program gets results as they finish, each once, whoever of the workers dies."""

import os
import pathlib
import signal
import tempfile
import unittest

import brigade
import graphs
import processes

STAGE = """
import pathlib, time
import brigade

@brigade.stage(outputs={"data": "=data"})
def work(data, sample, mark):
    while sample.id == 0 and not pathlib.Path(mark).exists():
        time.sleep(0.001)
    return data
"""


class AnyOrder(graphs.NeedsNumPy):
    def test_results_come_while_the_first_is_worked_on_and_workers_die(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "stages.py").write_text(STAGE)
            mark = pathlib.Path(folder, "mark")
            made = {"stages": {
                "numbers": {"producer": "synthetic",
                            "params": {"count": 500, "shape": [1], "dtype": "i64"}},
                "work": {"transform": "python", "from": "numbers", "replicas": 3, "chunk": 1,
                         "restart": {"policy": "on_failure", "burst": 50, "within": "1m",
                                     "backoff": "0s"},
                         "params": {"call": f"{folder}/stages.py:work", "mark": str(mark)}},
                "out": {"consumer": "application", "from": {"stage": "work", "batch": 1},
                        "params": {"order": "any"}}}}
            came = []
            with brigade.open(made, tensors="numpy") as run:
                for batch in run["out"]:
                    came += batch["data"].ravel().tolist()
                    if len(came) == 5:
                        for pid in processes.children()[:2]:
                            os.kill(pid, signal.SIGKILL)
                    if len(came) == 20:
                        mark.touch()
            self.assertNotIn(0, came[:20])
            self.assertEqual(sorted(came), list(range(500)))


if __name__ == "__main__":
    unittest.main(argv=["any_order_test.py"])
