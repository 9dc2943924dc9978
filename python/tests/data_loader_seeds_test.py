"""brigade.DataLoader with a worker_init_fn: workers have the batches and the random numbers that
torch's have."""

import pathlib
import sys
import tempfile
import unittest

try:
    import numpy  # noqa: F401
    import torch
    import seed_sets
except ImportError as error:
    print(f"skipped: {error} (python3-torch, python3-numpy)")
    sys.exit(77)

import brigade
from seed_sets import Noise, Stream, does_nothing, only_draws, seed_worker


def epochs(kind, dataset, count=1, **options):
    options = {"batch_size": 1, "num_workers": 2, "worker_init_fn": seed_worker,
               "collate_fn": list, "generator": torch.Generator().manual_seed(3), **options}
    loader = kind(dataset, **options)
    try:
        return [list(loader) for _ in range(count)]
    finally:
        if kind is brigade.DataLoader:
            loader.close()


def of_torch(dataset, count=1, **options):
    return epochs(torch.utils.data.DataLoader, dataset, count, **options)


def of_brigade(dataset, count=1, **options):
    return epochs(brigade.DataLoader, dataset, count, timeout=20, **options)


class WithMark(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.mark = pathlib.Path(folder.name, "mark")


class AsTorch(WithMark):
    def test_whichever_worker_is_slow(self):
        for init in (seed_worker, only_draws):
            expected = of_torch(Noise(24), worker_init_fn=init)
            for dataset in (Noise(24), Noise(24, self.mark, marks=5), Noise(24)):
                self.assertEqual(of_brigade(dataset, worker_init_fn=init), expected)
            self.mark.unlink()

    def test_in_all_epochs(self):
        for options in ({"shuffle": True}, {"persistent_workers": True, "batch_size": 3},
                        {"num_workers": 3, "batch_size": None, "collate_fn": None}):
            self.assertEqual(str(of_brigade(Noise(20), 2, **options)),
                             str(of_torch(Noise(20), 2, **options)))

    def test_of_iterable_datasets(self):
        for init in (seed_worker, only_draws):
            self.assertEqual(of_brigade(Stream(), 2, worker_init_fn=init, batch_size=5),
                             of_torch(Stream(), 2, worker_init_fn=init, batch_size=5))

    def test_of_two_iterators_in_turn(self):
        """Which have the same workers of the server, one after the other."""
        class Pairs:
            def __init__(self, kind, context):
                self.kind, self.context = kind, context

            def __call__(self, *arguments, **options):
                options["multiprocessing_context"] = self.context
                loader = self.kind(*arguments, **options)
                pairs = list(zip(loader, loader))
                getattr(loader, "close", list)()
                return pairs

        expected = epochs(Pairs(torch.utils.data.DataLoader, None), Noise(8))
        self.assertEqual(epochs(Pairs(brigade.DataLoader, "spawn"), Noise(8)), expected)


class Workers(WithMark):
    def made_by(self, batches):
        return {i: worker for (i, worker, *_), in batches}

    def test_have_every_nth_batch_of_a_resumed_epoch_too(self):
        for before in (True, False):
            loader = brigade.DataLoader(Noise(20, self.mark), 1, num_workers=2, collate_fn=list,
                                        worker_init_fn=seed_worker, in_order=before, timeout=60)
            with loader:
                if before:
                    self.mark.touch()
                iterator = iter(loader)
                given = [next(iterator) for _ in range(5)]
                state = loader.state_dict()
            self.mark.touch()
            rest = []
            for _ in range(2):
                with brigade.DataLoader(Noise(20), 1, num_workers=2, collate_fn=list,
                                        worker_init_fn=seed_worker) as loader:
                    loader.load_state_dict(state)
                    rest.append(list(loader))
            self.assertEqual(rest[0], rest[1])
            made = self.made_by(rest[0])
            self.assertEqual({*made, *self.made_by(given)}, set(range(20)))
            self.assertEqual(made, {i: i % 2 for i in made})
            self.mark.unlink()

    def test_that_are_free_have_more_in_any_order(self):
        with brigade.DataLoader(Noise(30, self.mark), 1, num_workers=2, collate_fn=list,
                                worker_init_fn=seed_worker, in_order=False, timeout=60) as loader:
            came = []
            for batch in loader:
                came.append(batch)
                if len(came) == 20:
                    self.mark.touch()
        made = self.made_by(came)
        self.assertEqual(sorted(made), list(range(30)))
        self.assertEqual({worker for (_, worker, *_), in came[:20]}, {1})

    def test_that_are_free_have_the_next_batch_without_the_function(self):
        (batches,) = of_brigade(Noise(12, self.mark, marks=6), worker_init_fn=None)
        made = self.made_by(batches)
        self.assertEqual({made[i] for i in range(1, 7)}, {1 - made[0]})

    def test_that_die(self):
        """A line says that random numbers begin anew, where they do."""
        for dataset, init, anew in ((Noise, seed_worker, True), (Noise, None, False)):
            with self.assertLogs("brigade", "WARNING") as log:
                (batches,) = of_brigade(dataset(12, self.mark, kills=7), worker_init_fn=init)
            self.mark.unlink()
            self.assertEqual([i for (i, *_), in batches], list(range(12)))
            lines = [line for line in log.output if "SIGKILL" in line]
            self.assertEqual(len(lines), 1, log.output)
            expression = "killed by SIGKILL .*; restarted [^;]*"
            expression += "; it calls worker_init_fn again, so .* may differ" if anew else "$"
            self.assertRegex(lines[0], expression)
            (untouched,) = of_brigade(dataset(12), worker_init_fn=init)
            same = [one[3:] for one, in batches] == [one[3:] for one, in untouched]
            self.assertEqual(same, not anew)

    def test_whose_function_draws_nothing_keep_seeds_by_batch(self):
        for count in (1, 2):
            with self.assertLogs("brigade", "WARNING"):
                (batches,) = of_brigade(Noise(12, self.mark, kills=7), num_workers=count,
                                        worker_init_fn=does_nothing)
            self.mark.unlink()
            (expected,) = of_brigade(Noise(12), worker_init_fn=None)
            self.assertEqual([one[3:] for one, in batches], [one[3:] for one, in expected])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
