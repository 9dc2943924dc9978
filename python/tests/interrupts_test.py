"""An exception between any two lines of a loader (Ctrl-C, PyThreadState_SetAsyncExc): it comes once
at each line of the package that an epoch runs, and nothing is lost, repeated or hangs."""

import os
import sys
import unittest
import warnings

import brigade
from data_sets import Numbers
from graphs import graph

PACKAGE = os.path.dirname(brigade.__file__)
HANG_SECONDS = 120
EACH_TWICE = ("_data_epoch.py", "_data_epochs.py")
OF_LOADER = ("_loader.py", "_reading.py", "_run.py", "_device.py", "_batch.py")
EPOCHS = ("_data_epochs.py",)


class Interrupt(BaseException):
    pass


class Plain(Numbers):
    def __getitem__(self, i):
        return i


class Parted:
    """Each worker's part of a range."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        info = brigade.get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        for i in range(first, self.count, step):
            yield i


class Order:
    """A generator, which is at its end behind an exception that comes out of it."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        for i in range(self.count):
            yield i

    def __len__(self):
        return self.count


class Lines:
    """Traces the lines of the package and of this file's generators in this thread. Raises when
    `at`, a line, comes for the `nth` time; else it collects lines, with how often they came."""

    def __init__(self, at=None, nth=1):
        self.at, self.nth, self.came, self.raised = at, nth, {}, False
        self.process = os.getpid()  # forks inherit the trace

    def __enter__(self):
        sys.settrace(self._call)
        return self

    def __exit__(self, *_):
        sys.settrace(None)

    def _call(self, frame, event, argument):
        name = frame.f_code.co_filename
        own = name == __file__ and frame.f_code.co_name == "__iter__"
        return self._line if own or os.path.dirname(name) == PACKAGE else None

    def _line(self, frame, event, argument):
        if event == "line" and not self.raised and os.getpid() == self.process:
            line = os.path.basename(frame.f_code.co_filename), frame.f_lineno
            self.came[line] = self.came.get(line, 0) + 1
            if line == self.at and self.came[line] == self.nth:
                self.raised = True
                raise Interrupt
        return self._line


def data_loader(**options):
    def make():
        return brigade.DataLoader(**{"batch_size": 2, "collate_fn": list, "timeout": HANG_SECONDS,
                                     **options})
    return make


def again(call, on_interrupt=lambda: None):
    """As a user does in a notebook: what was interrupted is called once more."""
    try:
        return call()
    except Interrupt:
        on_interrupt()
        return call()


def run(make, lines):
    """Two epochs and close(), traced; what they gave."""
    loader, epochs, wrong = make(), [], []

    def compare():
        trace = sys.gettrace()
        sys.settrace(None)
        try:
            state = loader.state_dict()
            said = state["given"] + len(state.get("ahead", ()))
        except Exception as error:
            said = repr(error)
        if given and said != len(given):
            wrong.append(f"state_dict() says {said} batches, not {len(given)}")
        sys.settrace(trace)

    with lines:
        for _ in range(2):
            given = []
            iterator = again(lambda: iter(loader))
            while (batch := again(lambda: next(iterator, None), compare)) is not None:
                given.append(batch)
            epochs.append(given)
        del iterator
        again(loader.close)
    return epochs, wrong


def numbers(batch):
    return batch.epoch, batch.ids, [float(one) for one in batch["data"].flatten()]


def of_graph(**options):
    def make():
        return brigade.Loader(graph(numbers={"params": {"count": 22}}, work={"batch": 4}), "train",
                              **options)
    return make


def run_graph(make, lines, resume=None):
    """As run(), of a Loader: three epochs, the second left early, with states in between. `resume`:
    what state_dict() says then is read by this, another loader."""
    loader, epochs, wrong, states = make(), [], [], []
    with lines:
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
        if state["given"] != count:
            wrong.append(f"state_dict() says {state['given']} batches, not {count}")
        resume.load_state_dict(state)
        rest = [numbers(batch) for batch in resume]
        last = epochs[epoch][-1:] if epoch != 1 else []
        if rest[:len(epochs[epoch]) - count] != epochs[epoch][count:] or \
                last and rest[-1:] not in ([], last):
            wrong.append(f"resumed behind {count} of epoch {epoch}, it gave {rest}")
    return epochs, wrong


def untraced(call):
    trace = sys.gettrace()
    sys.settrace(None)
    try:
        return call()
    finally:
        sys.settrace(trace)


class Graphs(unittest.TestCase):
    def check(self, make):
        collected = Lines()
        expected, _ = run_graph(make, collected)
        self.assertEqual([len(epoch) for epoch in expected], [6, 2, 6])
        failed, count = [], 0
        with make() as resume:
            for line, came in list(collected.came.items()):
                if line[0] not in OF_LOADER:
                    continue
                for nth in sorted({1, (came + 1) // 2, came}):
                    count += 1
                    try:
                        found, wrong = run_graph(make, Lines(line, nth), resume)
                        if found != expected:
                            wrong.append(f"gave {[[one[:2] for one in epoch] for epoch in found]}")
                    except Exception as error:
                        wrong = [repr(error)]
                    failed += [f"{line[0]}:{line[1]}, time {nth}: {text}" for text in wrong]
        print(f"{self._testMethodName}: {count} places, {len(failed)} failures")
        self.assertFalse(failed, "\n".join(failed))

    def test_of_numpy(self):
        self.check(of_graph(tensors="numpy", in_process=True))

    def test_of_torch(self):
        self.torch()
        self.check(of_graph(tensors="torch", in_process=True))

    def test_on_a_device(self):
        self.torch()
        self.check(of_graph(device="host", in_process=True))

    def torch(self):
        try:
            import torch  # noqa: F401
        except ImportError:
            self.skipTest("torch is not installed (python3-torch)")


class Interrupts(unittest.TestCase):
    def setUp(self):
        hook = sys.unraisablehook  # of what comes in __del__()
        sys.unraisablehook = lambda _: None
        self.addCleanup(setattr, sys, "unraisablehook", hook)
        warnings.simplefilter("ignore", ResourceWarning)  # of sockets that a forker was to have

    def check(self, make, sort=False, files=None):
        """`files`: whose lines; in all others a line is interrupted once."""
        def plain(epochs):
            return [sorted(epoch) if sort else epoch for epoch in epochs]
        collected = Lines()
        expected, _ = run(make, collected)
        self.assertTrue(all(expected))
        failed, count = [], 0
        for line, came in list(collected.came.items()):
            if files is not None and line[0] not in files:
                continue
            last = (came + 1) // 2
            for nth in sorted({1, last} if line[0] in EACH_TWICE and not files else {last}):
                count += 1
                try:
                    found, wrong = run(make, Lines(line, nth))
                    if plain(found) != plain(expected):
                        wrong.append(f"gave {found}")
                except Exception as error:
                    wrong = [repr(error)]
                failed += [f"{line[0]}:{line[1]}, time {nth}: {text}" for text in wrong]
        print(f"{self._testMethodName}: {count} places, {len(failed)} failures")
        self.assertFalse(failed, "\n".join(failed))

    def test_in_the_calling_process(self):
        self.check(data_loader(dataset=Plain(9), sampler=Order(9)))

    def test_of_an_iterable_dataset_in_the_calling_process(self):
        self.check(data_loader(dataset=Parted(9)))

    def test_in_workers(self):
        self.check(data_loader(dataset=Plain(15), sampler=Order(15), num_workers=2),
                   files=(*EPOCHS, "_run.py"))

    def test_in_any_order(self):
        self.check(data_loader(dataset=Plain(15), sampler=Order(15), num_workers=2,
                               in_order=False), sort=True, files=EPOCHS)

    def test_in_persistent_workers(self):
        self.check(data_loader(dataset=Plain(15), num_workers=2, persistent_workers=True),
                   files=EPOCHS)

    def test_of_an_iterable_dataset_in_workers(self):
        self.check(data_loader(dataset=Parted(15), num_workers=2), files=EPOCHS)


if __name__ == "__main__":
    unittest.main(argv=["interrupts_test.py", *sys.argv[2:]])
