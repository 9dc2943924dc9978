"""An exception between any two lines of a Loader, or of a run of brigade.open(): it comes once at
each line of the package that a program runs, and nothing is lost or repeated."""

import contextlib
import gc
import io
import os
import sys
import time
import unittest

import brigade
from graphs import graph
from interrupting import Interrupt, Lines, again, untraced

HANG_SECONDS = 120
FILES = ("_loader.py", "_reading.py", "_run.py", "_device.py", "_batch.py")
COUNT, BATCH = 22, 4


def small():
    return graph(numbers={"params": {"count": COUNT}}, work={"batch": BATCH})


def numbers(batch):
    return batch.epoch, batch.ids, [float(one) for one in batch["data"].flatten()]


def of_loader(**options):
    return lambda: brigade.Loader(small(), "train", **{"in_process": True, **options})


def read_loader(make, lines, resume=None, start=None):
    """Three epochs, the second left early, with states in between, and close(), traced: what they
    gave, and what was wrong. `resume`: another loader, which goes on where state_dict() says;
    `start`: the state where the traced one begins."""
    loader, epochs, wrong, states = make(), [], [], []
    before = start["given"] if start else 0
    with lines:
        if start:
            again(lambda: loader.load_state_dict(start))
        for left_after in (None, 2, None):
            iterator, given = again(lambda: iter(loader)), []
            epochs.append(given)
            while len(given) != left_after:
                batch = again(lambda: next(iterator, None),
                              lambda: untraced(lambda: states.append(
                                  (len(epochs) - 1, len(given), loader.state_dict()))))
                if batch is None:
                    break
                given.append(untraced(lambda: numbers(batch)))
                del batch
                again(loader.state_dict)
        del iterator
        again(loader.close)
    for epoch, count, state in states:
        epoch, count = (epoch + 1, 0) if state["epoch"] > epoch else (epoch, count)
        if resume is None or epoch > 2:
            continue
        if state["given"] != count + (before if epoch == 0 else 0):
            wrong.append(f"state_dict() says {state['given']} batches, not {count}")
        resume.load_state_dict(state)
        rest = [numbers(batch) for batch in resume]
        last = epochs[epoch][-1:] if epoch != 1 else []
        if rest[:len(epochs[epoch]) - count] != epochs[epoch][count:] or \
                last and rest[-1:] not in ([], last):
            wrong.append(f"resumed behind {count} of epoch {epoch}, it gave {rest}")
    return epochs, wrong


def open_run(state=None):
    return brigade.open(small(), epochs=3, tensors="numpy", in_process=True, state=state)


def read_run(_, lines, resume=True):
    """Likewise of brigade.open(): an epoch by next(), one by its iterator, one by the other."""
    epochs, wrong, states = [], [], []

    def note():
        try:
            states.append((sum(map(len, epochs)), run.state()))
        except brigade.RunError as error:  # there is a batch, or none was given yet
            if "next()" not in str(error) and epochs[0]:
                wrong.append(f"state(): {error}")

    with lines:
        run = again(open_run)
        output = again(lambda: run["train"])
        for iterator in (None, again(lambda: output.epoch(1)), again(lambda: iter(output))):
            epochs.append(given := [])

            def take():
                return output.next(0) if iterator is None else next(iterator, None)

            while (batch := again(take, lambda: untraced(note))) is not None:
                given.append(untraced(lambda: numbers(batch)))
                del batch
        again(run.close)
    every = [batch for epoch in epochs for batch in epoch]
    for count, state in states if resume else ():
        with open_run(state) as run:
            rest = [numbers(batch) for batch in run["train"]]
        if rest != every[count:]:
            wrong.append(f"resumed behind {count} batches, it gave {rest}")
    return epochs, wrong


class Interrupts(unittest.TestCase):
    def setUp(self):
        hook = sys.unraisablehook  # of what comes in __del__()
        self.ignored = []
        sys.unraisablehook = lambda about: self.ignored.append(repr(about.exc_value))
        self.addCleanup(setattr, sys, "unraisablehook", hook)

    def check(self, make, lengths=(6, 2, 6), read=read_loader, every=1, resume=None, **options):
        """At every line, or each of so many, when it comes first and last."""
        collected = Lines()
        expected, _ = read(make, collected, **options)
        self.assertEqual([len(epoch) for epoch in expected], list(lengths))
        places = [(line, nth) for line, came in collected.came.items() if line[0] in FILES
                  for nth in sorted({1, came})][::every]
        failed = []
        for line, nth in places:
            self.ignored.clear()
            try:
                found, wrong = read(make, Lines(line, nth), resume, **options)
                if found != expected:
                    wrong.append(f"gave {[[one[:2] for one in epoch] for epoch in found]}")
            except Exception as error:
                wrong = [repr(error)]
            wrong += [f"ignored: {text}" for text in self.ignored if text != repr(Interrupt())]
            failed += [f"{line[0]}:{line[1]}, time {nth}: {text}" for text in wrong]
        print(f"{self._testMethodName}: {len(places)} places, {len(failed)} failures")
        self.assertFalse(failed, "\n".join(failed))

    def check_loader(self, make, **options):
        with make() as resume:
            self.check(make, resume=resume, **options)

    def torch(self):
        try:
            import torch  # noqa: F401
        except ImportError:
            self.skipTest("torch is not installed (python3-torch)")

    def test_of_a_loader(self):
        self.check_loader(of_loader(tensors="numpy"))

    def test_on_a_device(self):
        self.torch()
        self.check_loader(of_loader(device="host"), every=2)

    def test_with_processes(self):
        self.check_loader(of_loader(tensors="numpy", in_process=False), every=8)

    def test_of_a_resumed_loader(self):
        make = of_loader(tensors="numpy")
        with make() as loader:
            # As a loader says that was interrupted with two batches ahead of the loop.
            start = {**loader.state_dict(), "given": 2, "skip": 2}
        self.check_loader(make, lengths=(4, 2, 6), start=start, every=2)

    def test_with_a_bar(self):
        try:
            import tqdm  # noqa: F401
        except ImportError:
            self.skipTest("tqdm is not installed (python3-tqdm)")
        with contextlib.redirect_stderr(io.StringIO()):
            self.check_loader(of_loader(tensors="numpy", progress=True), every=3)

    def test_of_a_run(self):
        read_run(None, Lines())
        threads = self.threads()
        self.check(None, lengths=(6, 6, 6), read=read_run, resume=True)
        until = time.monotonic() + HANG_SECONDS
        while self.threads() > threads:  # of runs whose open() was interrupted
            self.assertLess(time.monotonic(), until, f"{self.threads()} threads, not {threads}")
            gc.collect()
            time.sleep(0.01)

    def threads(self):
        return len(os.listdir("/proc/self/task"))


if __name__ == "__main__":
    unittest.main(argv=["loader_interrupts_test.py", *sys.argv[2:]])
