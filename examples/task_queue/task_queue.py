"""A queue of 10,000 tasks, and workers that run a TorchScript module on them.

    [MODULE=FILE] python3 task_queue.py [any]

Whoever of the workers dies meanwhile: each task is answered once; in order, or as they finish.
"""

import os
import pathlib
import sys
import tempfile
import threading

import brigade
import torch

GRAPH = pathlib.Path(__file__).with_name("task_queue.yaml")
TASKS = 10_000


def load(file):
    try:
        return torch.jit.load(file).eval()
    except (RuntimeError, ValueError):  # its text is a page
        raise ValueError(f"{file} is not a TorchScript file; write it with "
                         "torch.jit.script(model).save()") from None


@brigade.stage(inputs={"x": "f32[16]"}, outputs={"x": "=x", "y": "f32[4]"})
class Module:
    def __init__(self, worker, file):
        torch.set_num_threads(worker.threads)
        self.module = load(file)

    def __call__(self, x, out):
        out["x"] = x
        with torch.inference_mode():
            out["y"] = self.module(torch.from_numpy(x.copy()))


def make_tasks():
    return torch.rand(TASKS, 16, generator=torch.Generator().manual_seed(7))


def feed(tasks, run):
    with run.input("tasks") as queue:
        for task in tasks:
            slot = queue.acquire()
            if slot is None:
                return  # the run has ended: the loop below says why
            slot["x"] = task
            slot.submit()


def write_module(file):
    torch.manual_seed(7)
    torch.jit.script(torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(),
                                         torch.nn.Linear(32, 4))).save(file)


def main(as_they_finish):
    tasks = make_tasks()
    with tempfile.TemporaryDirectory() as folder:
        if "MODULE" not in os.environ:
            os.environ["MODULE"] = f"{folder}/module.pt"
            write_module(os.environ["MODULE"])
        order = {"stages.results.params.order": "any"} if as_they_finish else {}
        with brigade.open(GRAPH, set=order, tensors="torch") as run:
            threading.Thread(target=feed, args=(tasks, run), daemon=True).start()
            answers = [batch.clone() for batch in run["results"]]
        module = load(os.environ["MODULE"])
    if as_they_finish:  # into the order of the tasks
        answers.sort(key=lambda batch: batch.ids[0])
    asked, answered = (torch.cat([batch[name] for batch in answers]) for name in "xy")
    with torch.inference_mode():
        alone = module(tasks)  # the same in one process
    print(f"{len(answered)} answers, one per task and in order: {torch.equal(asked, tasks)}")
    print(f"equal to the result of one process: {torch.allclose(answered, alone, atol=1e-5)}")
    return torch.equal(asked, tasks) and torch.allclose(answered, alone, atol=1e-5)


if __name__ == "__main__":
    try:
        sys.exit(0 if main("any" in sys.argv[1:]) else 1)
    except brigade.Error as error:
        sys.exit(str(error))
