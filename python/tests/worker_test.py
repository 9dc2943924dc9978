"""Stages that are programs in Python: `exec:` and brigade.attach()."""

import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

import brigade
import graphs  # noqa: F401, it silences what is logged

HEAD = """
import brigade
worker = brigade.attach()
def refused(what, *arguments):
    try:
        what(*arguments)
    except (BufferError, RuntimeError, ValueError, IndexError, TypeError) as error:
        print(f"refused: {type(error).__name__}: {error}", flush=True)
    else:
        worker.fail("it was not refused")
"""
TENSORS = {"sum": {"dtype": "f64", "shape": []}}


def graph(script, *, count=40, tensors=TENSORS, shape=(3,), epochs=2, **keys):
    work = {"exec": [sys.executable, str(script)], "from": "numbers", "tensors": tensors, **keys}
    return {"seed": 5, "epochs": epochs, "stages": {
        "numbers": {"producer": "synthetic", "shuffle": True,
                    "params": {"count": count, "shape": list(shape), "dtype": "f32",
                               "fill": "random"}},
        "work": {key: value for key, value in work.items() if value is not None},
        "end": {"consumer": "application", "from": {"stage": "work", "batch": 8}}}}


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def script(self, text, head=HEAD):
        path = pathlib.Path(self.folder.name, "stage.py")
        path.write_text(head + textwrap.dedent(text))
        return path

    def read(self, made, output="end"):
        """Of each batch, its samples' ids and its bytes."""
        with brigade.open(made, tensors="dlpack") as run:
            seen = [(batch.epoch, batch.ids,
                     {name: bytes(batch.tensor(name)) for name in batch.keys()})
                    for batch in run[output]]
            run.wait()
        return seen

    def lines(self, made):
        with contextlib.redirect_stderr(io.StringIO()) as shown:
            self.read(made)
        lines = shown.getvalue().splitlines()
        return [line.split("refused: ")[1] for line in lines if "refused: " in line]

    SUM = """
    with worker:
        for task in worker:
            values = memoryview(task.input("data"))
            memoryview(task.output(0))[()] = sum(values) + task.random(0, 2)[1] % 7
            task.finish()
    """

    def test_give_the_same_for_any_replicas(self):
        script = self.script(self.SUM)
        found = self.read(graph(script))
        self.assertEqual(sum(len(ids) for _, ids, _ in found), 80)
        self.assertEqual(self.read(graph(script, replicas=3)), found)
        other = self.script(self.SUM.replace("% 7", "% 8"))
        self.assertNotEqual(self.read(graph(other, replicas=3)), found)

    def test_are_batches_sources_and_consumers(self):
        script = self.script("""
            with worker:
                total = 0
                for task in worker:
                    if worker.kind == "consumer":
                        assert (task.inputs, task.outputs) == (("value",), ())
                        total += sum(memoryview(task.input("value")))
                        worker.report("total", total)
                        worker.report("mean", total / 10)
                    else:
                        sample = task.sample()
                        assert task.outputs == ("value",) and worker.replicas == 2
                        memoryview(task.output("value"))[()] = sample.id * worker.params["by"]
                    task.finish()
            """)
        made = {"stages": {
            "values": {"exec": [sys.executable, str(script)], "count": 20, "replicas": 2,
                       "params": {"by": 3}, "tensors": {"value": {"dtype": "i64", "shape": []}}},
            "total": {"exec": [sys.executable, str(script)], "from": {"stage": "values",
                                                                      "batch": 8}},
            "end": {"consumer": "application", "from": {"stage": "values", "batch": 20}}}}
        with brigade.open(made) as run:
            self.assertEqual([memoryview(batch.tensor("value")).tolist() for batch in run["end"]],
                             [list(range(0, 60, 3))])
            run.wait()
        results = run.stats()["results"]["total"]
        self.assertEqual((results["total"], results["mean"]), (570, 57.0))

    def test_ragged_tensors_have_each_samples_shape(self):
        numbers = {"part": {"dtype": "f32", "shape": ["<=3"]}}
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed (python3-numpy)")
        script = self.script("""
            import numpy
            with worker:
                for task in worker:
                    size = task.sample().id % 4
                    assert task.output("part").ragged and task.output("part").shape == (3,)
                    task.resize("part", [size])
                    numpy.asarray(task.output("part"))[...] = numpy.asarray(
                        task.input("data"))[:size]
                    task.finish()
            """)
        with brigade.open(graph(script, tensors=numbers), tensors="numpy") as run:
            for batch in run["end"]:
                for i, id_of in enumerate(batch.ids):
                    self.assertTrue(numpy.array_equal(batch["part"][i],
                                                      batch["data"][i][:id_of % 4]))

    def test_a_settled_task_gives_no_views(self):
        script = self.script("""
            kept = []
            with worker:
                for task in worker:
                    if not kept:
                        kept = [task, task.input("data"), task.output("sum")]
                        view = memoryview(kept[1])
                        assert view.readonly and not memoryview(kept[2]).readonly
                        assert task.views == 1 and not task.settled
                        view.release()
                        assert task.views == 0
                        refused(worker.next)
                        view = memoryview(kept[2])
                        refused(task.finish)
                        assert not task.settled
                        view.release()
                    task.finish()
                    assert task.settled
                    if task is kept[0]:
                        refused(memoryview, kept[1])
                        refused(kept[2].__dlpack__)
                        refused(task.input, "data")
                        refused(task.finish)
                        assert kept[1].name == "data"
            """)
        settled = "BufferError: tensor {}: its task is settled; copy what you need before you " \
                  "settle it"
        self.assertEqual(self.lines(graph(script)), [
            "ValueError: the last task is not settled: finish it, drop it, or report its error",
            "BufferError: 1 array of the task's outputs is still in use; `del` the arrays "
            "before you finish the task",
            settled.format("data"), settled.format("sum"), "ValueError: the task is settled",
            "ValueError: the task is settled"])

    def test_wrong_calls_are_exceptions(self):
        script = self.script("""
            import os
            with worker:
                for task in worker:
                    if task.sample().index == 0 and task.sample().epoch == 0:
                        refused(task.output, "total")
                        refused(task.input, 7)
                        refused(task.sample, 1)
                        refused(task.random, 0, 65)
                        refused(task.resize, "sum", [2])
                        refused(brigade.attach)
                        child = os.fork()
                        if child == 0:
                            refused(worker.next)
                            worker.close()
                            os._exit(0)
                        os.waitpid(child, 0)
                    task.drop()
            """)
        said = self.lines(graph(script, output=None))
        self.assertEqual(said[:2], ['ValueError: the task has no output "total": available: sum',
                                    "ValueError: there is no tensor 7: expected an index below 1"])
        self.assertRegex(said[5], "^RunError: this process is already attached")
        self.assertEqual(len(said), 7, said)

    def test_errors_and_ends(self):
        made = graph(self.script("for task in worker: task.error('sample is bad')"))
        with self.assertRaisesRegex(brigade.RunError, "id .*: sample is bad$"):
            self.read(made)
        made = graph(self.script("worker.fail('no model')\nraise SystemExit(3)"))
        with self.assertRaisesRegex(brigade.RunError, 'replica 0 .*failed: no model$'):
            self.read(made)
        alone = subprocess.run([sys.executable, self.script("")], capture_output=True, text=True,
                               env={key: value for key, value in os.environ.items()
                                    if key != "BRIGADE_WORKER"})
        self.assertIn("RunError: there is no graph to attach to", alone.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
