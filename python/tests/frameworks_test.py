"""brigade.DataLoader where a framework expects torch's: what Debian's torch can show of it.
tests/frameworks has the frameworks themselves."""

import copy
import inspect
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import types
import unittest
from unittest import mock

import brigade
from brigade import _frameworks
try:
    import torch
    import torch_sets
    from torch.utils import data
except ImportError:
    print("skipped: torch is not installed (python3-torch)")
    sys.exit(77)

from data_loader_test import plain
from data_sets import Random
from graphs import graph
from processes import WITH_TESTS

SECONDS = 120  # that no program here needs


def run(code, *arguments, error=False):
    """What a program of its own prints."""
    done = subprocess.run([sys.executable, "-B", "-c", code, *arguments], capture_output=True,
                          text=True, timeout=SECONDS, env=WITH_TESTS)
    assert done.returncode == 0, done.stderr
    return (done.stdout.strip(), done.stderr) if error else done.stdout.strip()


def batches(loader):
    return [plain(batch) for batch in loader]


class Mine(brigade.DataLoader):
    def __init__(self, *args, own=7, **options):
        super().__init__(*args, **options)
        self.own = own


class Forever:
    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from self.sampler


class ManyEpochs(brigade.DataLoader):
    """As timm has it: one iterator for all epochs."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self._DataLoader__initialized = False
        self.batch_sampler = Forever(self.batch_sampler)
        self._DataLoader__initialized = True
        self.iterator = super().__iter__()

    def __len__(self):
        return len(self.batch_sampler.sampler)

    def __iter__(self):
        for _ in range(len(self)):
            yield next(self.iterator)


class ClassRelation(unittest.TestCase):
    def test_it_is_one_class_whenever_torch_is_imported(self):
        code = """if True:
            import pickle, sys
            if sys.argv[1] == "before":
                import torch
            import brigade
            before, kept = brigade.DataLoader, pickle.dumps(brigade.DataLoader)
            class Mine(brigade.DataLoader):
                pass
            one = Mine([1, 2], collate_fn=list)
            finders = len(sys.meta_path)
            if sys.argv[1] == "after":
                import torch
            if sys.argv[1] == "never":
                assert "torch" not in sys.modules
                base = brigade.DataLoader.__mro__[1]
            else:
                from torch.utils.data import DataLoader as base
                assert not any(type(one).__module__ == "brigade._data_torch"
                               for one in sys.meta_path)
            assert isinstance(one, base) and issubclass(Mine, base), Mine.__mro__
            assert before is brigade.DataLoader is pickle.loads(kept)
            print(list(one))"""
        for when in ("before", "after", "never"):
            self.assertEqual(run(code, when), "[[1], [2]]", when)

    def test_a_subclass_that_cannot_be_torch_s_does_not_break_the_import(self):
        code = """if True:
            import brigade
            class Meta(type):
                def mro(cls):
                    if "torch" in brigade.DataLoader.__mro__[1].__module__:
                        raise TypeError("no, with torch's")
                    return type.mro(cls)
            class Strange(brigade.DataLoader, metaclass=Meta):
                pass
            import torch
            print([len(list(kind([1]))) for kind in (brigade.DataLoader,
                                                     torch.utils.data.DataLoader)])"""
        out, error = run(code, error=True)
        self.assertEqual(out, "[1, 1]")
        self.assertRegex(error, "(?s)^DataLoader: frameworks .* no, with torch's.* before you")

    def test_no_method_of_torch_s_runs_on_it_unseen(self):
        """What torch's class has and ours has not: looked at, and right as it is."""
        right = {"__new__", "__orig_bases__", "__parameters__", "__annotations__",
                 "check_worker_number_rationality"}  # which warns of more workers than cores
        theirs = {name for name in vars(data.DataLoader)
                  if callable(getattr(data.DataLoader, name, None)) or
                  isinstance(vars(data.DataLoader)[name], property)}
        self.assertEqual(theirs - set(vars(brigade.DataLoader)) - right, set())

    def test_parameters_are_attributes(self):
        """Lightning makes a loader of these anew."""
        loader = brigade.DataLoader(range(8), 2, shuffle=True, num_workers=1)
        names = list(inspect.signature(type(loader).__init__).parameters)[1:]
        self.assertEqual(set(names) - set(vars(loader)), {"shuffle", "multiprocessing_context"})
        self.assertIsNone(loader.multiprocessing_context)

    def test_signatures_are_as_they_were(self):
        for kind in (data.DataLoader, brigade.DataLoader, Mine):
            of_init = list(inspect.signature(kind.__init__).parameters)[1:]
            self.assertEqual(list(inspect.signature(kind).parameters), of_init)

    def test_subclasses_are_pickled_and_copied(self):
        loader = Mine(range(8), 4, num_workers=1, own=3)
        for other in (pickle.loads(pickle.dumps(loader)), copy.deepcopy(loader)):
            self.assertEqual((type(other), other.own), (Mine, 3))
            self.assertIs(type(other.num_workers), type(loader.num_workers))
            with other:
                self.assertEqual(batches(other), batches(loader))
        loader.close()

    def test_one_iterator_for_many_epochs(self):
        loader = ManyEpochs(range(8), batch_size=4, num_workers=1)
        self.assertEqual([batches(loader) for _ in range(2)], [[[0, 1, 2, 3], [4, 5, 6, 7]]] * 2)
        with self.assertRaisesRegex(ValueError, "batch_sampler of a ManyEpochs cannot be changed"):
            loader.batch_sampler = []
        loader.close()


class Rebuilt(unittest.TestCase):
    """Frameworks give the parameters of a loader to torch's class."""

    def test_workers_are_a_number(self):
        workers = brigade.DataLoader(range(3), num_workers=2).num_workers
        self.assertEqual((workers, f"{workers:02d}", repr(workers), str(workers)),
                         (2, "02", "2", "2"))
        self.assertIs(type(pickle.loads(pickle.dumps(workers))), int)
        self.assertIs(type(workers + 0), int)

    def test_it_stays_a_loader_of_brigade_s(self):
        """Whose workers may be killed."""
        for count in (0, 2):
            loader = brigade.DataLoader(Random(60), 4, num_workers=count, collate_fn=list)
            for again in (data.DataLoader(loader.dataset, 5, num_workers=loader.num_workers,
                                          collate_fn=list),
                          data.DataLoader(loader.dataset, 5, False, None, None,
                                          loader.num_workers, list)):
                self.assertIs(type(again), brigade.DataLoader)
                with again:
                    iterator = iter(again)
                    first = next(iterator)
                    if count:
                        os.kill(first[0]["pid"], signal.SIGKILL)
                    self.assertEqual([one["value"][0] for batch in [first, *iterator]
                                      for one in batch], list(range(60)))

    def test_others_stay_torch_s(self):
        class Theirs(data.DataLoader):
            pass

        class Both(data.DataLoader, dict):
            pass

        marked = brigade.DataLoader(range(3)).num_workers
        self.assertIs(type(data.DataLoader(range(3), num_workers=0)), data.DataLoader)
        for kind in (Theirs, Both):
            loader = kind(range(3), num_workers=marked)
            self.assertIs(type(loader), kind)
            self.assertEqual(len(list(loader)), 3)
        again = pickle.loads(pickle.dumps(data.DataLoader([1, 2])))
        self.assertEqual((type(again), len(list(again))), (data.DataLoader, 2))


class Datasets(unittest.TestCase):
    def test_a_protocol_of_another_loader_is_left_to_it(self):
        for count in (0, 2):
            read = [batches(kind(torch_sets.OfAnotherLoader(), 4, num_workers=count))
                    for kind in (data.DataLoader, brigade.DataLoader)]
            self.assertEqual(read[0], read[1])

    def test_a_shared_tensor_is_the_same_memory_in_workers(self):
        """As Hugging Face's datasets pass their epoch to persistent workers."""
        table = torch.arange(6).view(2, 3).T.tolist()
        strategy = torch.multiprocessing.get_sharing_strategy()
        for one in ("file_descriptor", "file_system"):
            torch.multiprocessing.set_sharing_strategy(one)
            try:
                dataset = torch_sets.Epochs()
                with brigade.DataLoader(dataset, None, num_workers=2, persistent_workers=True,
                                        collate_fn=list) as loader:
                    for epoch in range(3):
                        dataset.set_epoch(epoch)
                        self.assertEqual(list(loader), [[epoch, table, True]] * 2)
            finally:
                torch.multiprocessing.set_sharing_strategy(strategy)

    def test_shared_tensors_leave_no_descriptor(self):
        loader = brigade.DataLoader(torch_sets.Epochs(), None, num_workers=1, collate_fn=list,
                                    multiprocessing_context="spawn")
        list(loader)
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            list(loader)
        loader.dataset.lock = threading.Lock()
        for _ in range(3):
            with self.assertRaisesRegex(TypeError, "dataset.lock"):
                iter(loader)
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)
        loader.close()


class Versions(unittest.TestCase):
    def said_of(self, name, version):
        """Of two loaders."""
        module = types.SimpleNamespace(__version__=version)
        with mock.patch.dict(sys.modules, {name: module}), \
                mock.patch.object(_frameworks, "_told", set()), \
                mock.patch.object(_frameworks.logger, "warning") as warning:
            for _ in range(2):
                list(brigade.DataLoader(range(2), collate_fn=list))
        return [call.args[0] % call.args[1:] for call in warning.call_args_list]

    def test_a_framework_older_than_the_tested_one_is_named_once(self):
        for name, tested in _frameworks.TESTED.items():
            for version in ("0.9.1", "0.0.0.dev20200101"):
                (told,) = self.said_of(name, version)
                self.assertRegex(told, f"^DataLoader: {name} {version} is older .*{tested}")
        for version in ("1.15.0", "1.15.0rc1", "1.16.0", "2.0.0", "not a version of digits 9"):
            self.assertEqual(self.said_of("accelerate", version), [], version)
        self.assertEqual(self.said_of("another", "0.1"), [])


class Inner(data.BatchSampler):
    """As accelerate has it: a sampler of batches around another one."""

    def __init__(self, batch_sampler):
        self.batch_sampler = batch_sampler

    def __iter__(self):
        yield from self.batch_sampler

    def __len__(self):
        return len(self.batch_sampler)


class Resuming(unittest.TestCase):
    def test_a_sampler_deep_inside_draws_the_same_order(self):
        generator = torch.Generator()
        inner = data.BatchSampler(data.RandomSampler(range(20), generator=generator), 4, False)
        loader = brigade.DataLoader(range(20), batch_sampler=Inner(inner))
        iterator = iter(loader)
        next(iterator)
        state = loader.state_dict()
        rest, following = batches(iterator), batches(loader)
        generator.manual_seed(99)
        loader.load_state_dict(state)
        self.assertEqual([batches(loader), batches(loader)], [rest, following])

    def test_a_dataset_that_counts_its_epochs_begins_the_same_one(self):
        streaming = types.SimpleNamespace(StreamingDataset=torch_sets.CountsEpochs)
        for count in (0, 1):
            for known in (True, False):
                modules = {"streaming": streaming} if known else {}
                dataset = torch_sets.CountsEpochs()
                with self.subTest(count), mock.patch.dict(sys.modules, modules), \
                        brigade.DataLoader(dataset, 4, num_workers=count) as loader:
                    batches(loader)
                    iterator = iter(loader)
                    self.assertEqual(plain(next(iterator)), [100, 101, 102, 103])
                    state, rest = loader.state_dict(), batches(iterator)
                    ended, following = loader.state_dict(), batches(loader)
                    for one, left in ((state, rest), (ended, following)):
                        loader.load_state_dict(one)
                        self.assertEqual(batches(loader) == left, known)

    def test_a_batch_that_lightning_reads_ahead_comes_again(self):
        """It has no len() to know the last batch by, and saves the state below its loop."""
        name = "lightning.pytorch.loops.fetchers"
        for count in (0, 2):
            with self.subTest(count), brigade.DataLoader(
                    torch_sets.OfAnotherLoader(), 2, num_workers=count) as loader:
                every, iterator = batches(loader), iter(loader)
                next(iterator)
                loop = Loop(loader, [next(iterator)])
                states = [loop.save(loader)]
                with mock.patch.dict(sys.modules, {"lightning.pytorch.loops.fetchers": types}):
                    states += [loop.save(loader), Loop(None, [0]).save(loader)]
                for state, left in zip(states, (2, 1, 2)):
                    loader.load_state_dict(state)
                    self.assertEqual(batches(loader), every[left:])

    def test_nor_does_it_lose_one_of_a_graph(self):
        class WithoutLength(brigade.Loader):
            __len__ = None  # a TypeError

        for kind, left in ((WithoutLength, 1), (brigade.Loader, 2)):
            with mock.patch.dict(sys.modules, {"lightning.pytorch.loops.fetchers": types}), \
                    kind(graph(), tensors="dlpack") as loader:
                loop = Loop(loader, [])
                iterator = loop.begin(loader)
                read = [next(iterator).ids for _ in range(2)]
                loop._data_fetcher.batches += [None] * (2 - left)
                state = loop.save(loader)
                read += [batch.ids for batch in iterator]
                loader.load_state_dict(state)
                self.assertEqual([batch.ids for batch in loader], read[left:])


class Loop:
    """As Lightning's, which saves the state of a loader."""

    def __init__(self, loader, batches):
        combined = types.SimpleNamespace(flattened=[loader])
        self._data_fetcher = types.SimpleNamespace(batches=batches, _combined_loader=combined)

    def begin(self, loader):
        return iter(loader)

    def save(self, loader):
        return loader.state_dict()


class Mistakes(unittest.TestCase):
    def test_a_loader_with_workers_is_read_in_another_process(self):
        spawn = multiprocessing.get_context("spawn")
        with brigade.DataLoader(range(8), 4, num_workers=1) as loader:
            here, results = batches(loader), spawn.Queue()
            other = spawn.Process(target=torch_sets.read_in_process, args=(loader, results))
            other.start()
            self.assertEqual(results.get(timeout=SECONDS), here)
            other.join(SECONDS)
            self.assertEqual((other.exitcode, batches(loader)), (0, here))

    def test_a_sampler_of_a_longer_dataset(self):
        for kind in (data.DataLoader, brigade.DataLoader):
            loader = kind(list(range(5)), 2, sampler=data.SequentialSampler(range(9)),
                          num_workers=1)
            with self.assertRaisesRegex(IndexError, "(?s)worker .*list index out of range"):
                list(loader)

    def test_what_only_workers_cannot_import(self):
        for kind in (torch_sets.NotInWorkers, torch_sets.ImportsInWorkers):
            loader = brigade.DataLoader(kind(4), num_workers=1, multiprocessing_context="spawn")
            with loader, self.assertRaisesRegex(
                    ModuleNotFoundError, "(?s)in worker 0.*module_that_workers_do_not_have"):
                list(loader)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
