"""An exception between any two lines of a DataLoader: it comes once at each line of the package
that an epoch runs, and nothing is lost, repeated or hangs."""

import sys
import unittest
import warnings

import brigade
from data_sets import Numbers
from interrupting import Lines, again, untraced

HANG_SECONDS = 120
EACH_TWICE = ("_data_epoch.py", "_data_epochs.py")
EPOCHS = ("_data_epochs.py",)


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


def data_loader(**options):
    def make():
        return brigade.DataLoader(**{"batch_size": 2, "collate_fn": list, "timeout": HANG_SECONDS,
                                     **options})
    return make


def run(make, lines):
    """Two epochs and close(), traced; what they gave."""
    loader, epochs, wrong = make(), [], []

    def compare():
        try:
            state = loader.state_dict()
            said = state["given"] + len(state.get("ahead", ()))
        except Exception as error:
            said = repr(error)
        if given and said != len(given):
            wrong.append(f"state_dict() says {said} batches, not {len(given)}")

    with lines:
        for _ in range(2):
            given = []
            iterator = again(lambda: iter(loader))
            while (batch := again(lambda: next(iterator, None),
                                   lambda: untraced(compare))) is not None:
                given.append(batch)
            epochs.append(given)
        del iterator
        again(loader.close)
    return epochs, wrong


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
