"""brigade.DataLoader: what torch's does, and what it promises beyond that."""

import collections
import gc
import importlib.util
import json
import logging
import os
import random
import signal
import sys
import tempfile
import threading
import time
import unittest
import warnings

import brigade
from data_sets import (Array, Counted, CountsEpochs, Failing, Hungry, Numbers, OwnIterator, Parts,
                       Random, Resumable, Sizes, SizesOf, Threes, Who, same, told)
from graphs import workers
NUMPY = importlib.util.find_spec("numpy") is not None


def plain(batch):
    """As values that compare."""
    if isinstance(batch, dict):
        return {key: plain(value) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [plain(value) for value in batch]
    return batch.tolist() if hasattr(batch, "tolist") else batch


def open_loader(dataset, *arguments, **options):
    return brigade.DataLoader(dataset, *arguments, **{"collate_fn": list, **options})


def whole(dataset, *arguments, **options):
    with open_loader(dataset, *arguments, **options) as loader:
        return [plain(batch) for batch in loader]


class Epochs(unittest.TestCase):
    def test_any_number_of_workers_gives_the_same(self):
        for options in ({"batch_size": 7}, {"batch_size": 7, "drop_last": True},
                        {"batch_size": None}, {"batch_sampler": [[3, 1], [2], []]},
                        {"sampler": [5, 5, 2], "batch_size": 2}):
            here = whole(Numbers(40), **options)
            self.assertTrue(here)
            for count in (1, 3):
                self.assertEqual(whole(Numbers(40), num_workers=count, **options), here)

    def test_each_iter_is_an_epoch(self):
        with open_loader(Numbers(10), 4, num_workers=2) as loader:
            first = [plain(batch) for batch in loader]
            self.assertEqual(len(loader), 3)
            for persistent in range(2):
                self.assertEqual([plain(batch) for batch in loader], first)

    def test_one_left_early_holds_up_nothing(self):
        with open_loader(Numbers(100), 2, num_workers=2) as loader:
            for _ in range(5):
                iterator = iter(loader)
                self.assertEqual(plain(next(iterator)), plain([Numbers(100)[0], Numbers(100)[1]]))
            self.assertEqual(len(list(loader)), 50)

    def test_two_at_once(self):
        with open_loader(Numbers(30), 3, num_workers=2) as loader:
            pairs = [(plain(one), plain(other)) for one, other in zip(loader, loader)]
        self.assertEqual([one for one, _ in pairs], whole(Numbers(30), 3))
        self.assertTrue(all(one == other for one, other in pairs))

    def test_every_batch_may_be_kept(self):
        if not NUMPY:
            self.skipTest("NumPy is not installed (python3-numpy)")
        with open_loader(Array(400), 2, num_workers=2) as loader:
            iterator = iter(loader)
            next(iterator)
            before = len(os.listdir("/proc/self/fd"))
            held = list(iterator)
            self.assertLessEqual(len(os.listdir("/proc/self/fd")), before)
        gc.collect()
        for i, batch in enumerate(held, 1):  # the workers have gone
            self.assertEqual([float(one[0, 0]) for one in batch], [2 * i, 2 * i + 1])

    def test_nothing_has_a_name(self):
        """What is mapped has none in /dev/shm, which could be full."""
        before, mapped = workers(), {}
        with open_loader(Sizes(40), 2, num_workers=2) as loader:
            for _ in loader:
                for pid in {os.getpid(), *(workers() - before)}:
                    with open(f"/proc/{pid}/maps") as maps:
                        mapped[pid] = maps.read()
                    self.assertNotIn("/dev/shm", mapped[pid])
        self.assertEqual(len(mapped), 3)
        for text in mapped.values():  # at last: workers begin one after another
            self.assertIn("/memfd:", text)

    def test_memory_goes_round(self):
        with open_loader(Sizes(400), 2, num_workers=2, persistent_workers=True) as loader:
            for _ in loader:
                pass
            # Of 200 batches 64 may be finished and wait for a slow one before them.
            self.assertLess(len(loader._pool._arena._maps), 80)

    def test_shapes_may_change(self):
        expected = whole(Sizes(60), 3)
        self.assertGreater(max(len(one) for batch in expected for one in batch), 1 << 17)
        self.assertEqual(whole(Sizes(60), 3, num_workers=2), expected)

    def test_what_changing_sizes_cost_is_said_once(self):
        large = 3 << 20
        for lines, sizes in ((1, [large, 1] * 4), (0, [large] * 7 + [1]), (0, [100, 1] * 4)):
            with open_loader(SizesOf(sizes), 1, num_workers=1) as loader, \
                    self.assertLogs("brigade", "WARNING") as log:
                logging.getLogger("brigade").warning("at least one line")
                for _ in range(3):
                    self.assertEqual([len(batch[0]) for batch in loader], sizes)
            self.assertEqual(sum("change their shapes" in line for line in log.output), lines)
            self.assertEqual(len(log.output), lines + 1)

    def test_getitems_is_asked_for_whole_batches(self):
        self.assertEqual(whole(Threes(), 3, num_workers=1), [[0, 10, 20], [30, 40, 50], [60]])

    def test_a_length_that_was_wrong(self):
        with open_loader(Parts(10, length=4), 2, num_workers=2) as loader:
            self.assertEqual(len(loader), 2)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                list(loader)
        self.assertIn("reported length 4", str(caught[0].message))


class Iterables(unittest.TestCase):
    def test_each_worker_has_its_number(self):
        with open_loader(Who(), None, num_workers=3, collate_fn=same) as loader:
            self.assertEqual([told["id"] for told in loader], [0, 1, 2])

    def test_workers_take_turns_until_all_have_ended(self):
        self.assertEqual(whole(Parts(10), 2), [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]])
        self.assertEqual(whole(Parts(11), 2, num_workers=2),
                         [[0, 2], [1, 3], [4, 6], [5, 7], [8, 10], [9]])
        self.assertEqual(whole(Parts(11), 2, num_workers=3, drop_last=True),
                         [[0, 3], [1, 4], [2, 5], [6, 9], [7, 10]])
        self.assertEqual(whole(Parts(3), None, num_workers=2, collate_fn=same),
                         [0, 1, 2])

    def test_twice(self):
        with open_loader(Parts(11), 2, num_workers=2) as loader:
            first = [plain(batch) for batch in loader]
            time.sleep(0.05)  # in which an open round of tasks is closed
            self.assertEqual([plain(batch) for batch in loader], first)

    def test_a_successor_goes_on_where_the_dead_one_was(self):
        expected = whole(Parts(40), 2, num_workers=2)
        for dataset in (Parts(40, dies_at=17), Resumable(40, dies_at=17)):
            with tempfile.TemporaryDirectory() as folder:
                dataset.once = os.path.join(folder, "died")
                self.assertEqual(whole(dataset, 2, num_workers=2), expected)
                self.assertTrue(os.path.exists(dataset.once))

    def test_positions(self):
        for kind in (Parts, Resumable, OwnIterator):
            for count in (0, 2):
                expected = whole(kind(21), 2, num_workers=count)
                for given in (0, 1, 5, len(expected)):
                    with open_loader(kind(21), 2, num_workers=count) as loader:
                        iterator = iter(loader)
                        for _ in range(given):
                            next(iterator)
                        state = json.loads(json.dumps(loader.state_dict()))
                    with open_loader(kind(21), 2, num_workers=count) as loader:
                        loader.load_state_dict(state)
                        rest = [plain(batch) for batch in loader]
                        self.assertEqual(rest, expected[given:], (kind, count, given))
                        self.assertEqual([plain(batch) for batch in loader], expected)

    def test_what_a_dataset_keeps_for_the_next_epoch(self):
        for options in ({}, {"num_workers": 2, "persistent_workers": True}):
            with open_loader(CountsEpochs(21), 2, **options) as loader:
                epochs, states = [], []
                for _ in range(3):
                    epochs.append([])
                    for batch in loader:
                        epochs[-1].append(plain(batch))
                        states.append((len(epochs) - 1, len(epochs[-1]), loader.state_dict()))
                    states.append((len(epochs), 0, loader.state_dict()))
            self.assertEqual([epoch[0][0] for epoch in epochs], [[i, 0] for i in range(3)])
            for epoch, given, state in states[::4] + states[9:13] + states[-2:]:
                with open_loader(CountsEpochs(21), 2, **options) as loader:
                    loader.load_state_dict(json.loads(json.dumps(state)))
                    for rest in (epochs + [[]])[epoch:3]:
                        self.assertEqual([plain(batch) for batch in loader], rest[given:],
                                         (options, epoch, given))
                        given = 0

    def test_a_state_of_other_workers_is_refused(self):
        with open_loader(Parts(21), 2, num_workers=2) as loader:
            next(iter(loader))
            state = loader.state_dict()
        with self.assertRaisesRegex(ValueError, "num_workers was 2, is now 0"):
            open_loader(Parts(21), 2).load_state_dict(state)


class Deaths(unittest.TestCase):
    """Of workers."""

    def kill_while(self, loader, count):
        """All batches of so many epochs, while a worker is killed every 50 ms."""
        seen, killed = collections.deque(maxlen=1), []
        over = threading.Event()

        def kill():
            while not over.wait(0.05):
                pid = seen.pop() if seen else None
                if pid in workers():
                    os.kill(pid, (signal.SIGKILL, signal.SIGINT)[len(killed) % 2])
                    killed.append(pid)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            epochs = []
            for _ in range(count):
                epochs.append([])
                for batch in loader:
                    seen.append(batch[0]["pid"])  # one that works, not one that just begins
                    epochs[-1].append(plain([sample["value"] for sample in batch]))
        finally:
            over.set()
            killer.join()
        return epochs, len(killed)

    def test_cost_nothing(self):
        random.seed(1)
        with open_loader(Random(120, ms=1), 4, num_workers=2) as loader:
            epochs, killed = self.kill_while(loader, 5)
        random.seed(1)
        with open_loader(Random(120), 4, num_workers=1) as loader:
            untouched = [[plain([sample["value"] for sample in batch]) for batch in loader]
                         for _ in range(5)]
        self.assertGreater(killed, 3)
        self.assertEqual(epochs, untouched)
        self.assertNotEqual(epochs[0], epochs[1])

    def test_of_a_batch_that_ends_every_worker(self):
        with open_loader(Failing(10, at=5, how="exit"), 2, num_workers=2) as loader:
            with self.assertLogs("brigade", "WARNING") as lines, \
                    self.assertRaisesRegex(RuntimeError, "batch 2 ended its worker 3 times"):
                list(loader)
            for line in lines.output:
                self.assertRegex(line, r"DataLoader: worker \d \(pid \d+\) exited with code 3 with "
                                       r"a batch in flight;( that batch has crashed 3 workers;)? "
                                       r"restarted (at once|in \d.\d ms)$")
            self.assertEqual(len(lines.output), 3)
            loader.dataset.at = None
            self.assertEqual(len(list(loader)), 5, "with new workers")

    def test_end_with_the_loader(self):
        before = workers()
        for persistent in (False, True):
            options = {"num_workers": 2, "persistent_workers": persistent}
            with open_loader(Numbers(10), **options) as loader:
                iterator = iter(loader)
                next(iterator)
                while len(workers() - before) < 2:
                    time.sleep(0.001)
            self.assertEqual(workers(), before)
            loader = open_loader(Numbers(10), **options)
            batch = next(iter(loader))
            del loader, iterator
            self.assertEqual(workers(), before)
            del batch


class Workers(unittest.TestCase):
    def test_lines_have_nothing_of_the_run_below(self):
        with self.assertLogs("brigade", "INFO") as log:
            logging.getLogger("brigade").info("begins")
            with open_loader(Numbers(4), num_workers=1) as loader:
                list(loader)
            open_loader(Numbers(4), num_workers=1).close()
            with open_loader(Numbers(4), num_workers=1) as loader:
                iter(loader)
        for line in log.output:
            self.assertNotRegex(line, "samples/s|stopp|ended immediately|epoch")

    def test_are_told_who_they_are(self):
        with open_loader(Counted(8), 1, num_workers=2, worker_init_fn=told) as loader:
            first = [batch[0] for batch in loader]
            self.assertEqual({one["workers"] for one in first}, {2})
            self.assertEqual(len({(one["id"], one["pid"]) for one in first}),
                             len({one["pid"] for one in first}))
            self.assertEqual({one["told"] - one["id"] for one in first}, {100})
            second = [batch[0] for batch in loader]
            self.assertEqual({one["calls"] for one in second if one["calls"] == 1}, {1},
                             "a copy of the dataset for each epoch")

    def test_persistent_ones_keep_their_dataset(self):
        with open_loader(Counted(8), 1, num_workers=1, persistent_workers=True) as loader:
            calls = [batch[0]["calls"] for _ in range(2) for batch in loader]
        self.assertEqual(calls, list(range(1, 17)))

    def test_a_dataset_that_changes_is_sent_again(self):
        with open_loader(Failing(4, at=None), num_workers=1) as loader:
            self.assertEqual(len(list(loader)), 4)
            loader.dataset.at = 1
            with self.assertRaises(KeyError):
                list(loader)

    def test_arrays_of_a_dataset_are_there_once(self):
        if not NUMPY:
            self.skipTest("NumPy is not installed (python3-numpy)")
        with open_loader(Hungry(128 << 20), 1, num_workers=2) as loader:
            private = [batch[0] for batch in loader]
        self.assertLess(max(private), 96 << 20)


class Positions(unittest.TestCase):
    def test_nothing_is_given_twice_or_never(self):
        for count in (0, 2):
            epoch = whole(Numbers(20), 3, num_workers=count)
            for given in (0, 1, 4, 6, 7):
                with open_loader(Numbers(20), 3, num_workers=count) as loader:
                    iterator = iter(loader)
                    for _ in range(given):
                        next(iterator)
                    state = json.loads(json.dumps(loader.state_dict()))
                    loader.load_state_dict(state)
                    for rest in (epoch[given:], epoch):
                        self.assertEqual([plain(batch) for batch in loader], rest, given)

    def test_a_state_from_before_the_first_epoch(self):
        options = {"num_workers": 2, "persistent_workers": True}
        random.seed(1)
        with open_loader(Random(20), 2, **options) as loader:
            state = loader.state_dict()
            expected = [plain([one["value"] for one in batch]) for batch in loader]
        with open_loader(Random(20), 2, **options) as loader:
            next(iter(loader))
            loader.load_state_dict(state)
            self.assertEqual([plain([one["value"] for one in batch]) for batch in loader], expected)

    def test_random_numbers_of_workers_go_on(self):
        with open_loader(Random(20), 2, num_workers=2) as loader:
            iterator = iter(loader)
            next(iterator)
            state = loader.state_dict()
            rest = [plain([one["value"] for one in batch]) for batch in iterator]
        with open_loader(Random(20), 2, num_workers=1) as loader:
            loader.load_state_dict(state)
            self.assertEqual([plain([one["value"] for one in batch]) for batch in loader], rest)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
