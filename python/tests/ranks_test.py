"""The part of the samples that a process reads: by its call, the graph, torch, variables."""

import contextlib
import logging
import os
import sys
import tempfile
import types
import unittest

import brigade
from data_sets import RankVariables
from graphs import SAMPLES, graph, open_loader

VARIABLES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS")


@contextlib.contextmanager
def environment(**variables):
    before = {name: os.environ.pop(name) for name in VARIABLES if name in os.environ}
    os.environ.update({name: str(value) for name, value in variables.items()})
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name, None)
        os.environ.update(before)


@contextlib.contextmanager
def torch_distributed(rank, world):
    """What an initialized torch.distributed answers."""
    made = types.SimpleNamespace(is_initialized=lambda: True, get_rank=lambda: rank,
                                 get_world_size=lambda: world)
    before = sys.modules.get("torch.distributed")
    sys.modules["torch.distributed"] = made
    try:
        yield made
    finally:
        del sys.modules["torch.distributed"]
        if before is not None:
            sys.modules["torch.distributed"] = before


class Log(logging.Handler):
    """Lines of the logger `brigade`, with their levels."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append((record.levelname, record.getMessage()))

    def __enter__(self):
        logger = logging.getLogger("brigade")
        self._level = logger.level
        logger.setLevel(logging.INFO)
        logger.addHandler(self)
        return self

    def __exit__(self, *_):
        logger = logging.getLogger("brigade")
        logger.removeHandler(self)
        logger.setLevel(self._level)

    def of_ranks(self):
        return [line for line in self.lines if not line[1].startswith("source ") and
                ("rank" in line[1] or "WORLD_SIZE" in line[1])]


def read(source=None, **options):
    """The ids that a loader gives, and what its log says of ranks."""
    with Log() as log, open_loader(source or graph(), **options) as loader:
        ids = [i for batch in loader for i in batch.ids]
        for _ in loader:  # another epoch says nothing more
            break
    return sorted(ids), log.of_ranks()


def part(rank, world):
    with environment():
        return read(rank=rank, world_size=world)[0]


class Loaders(unittest.TestCase):
    def setUp(self):
        self.enterContext(environment())

    def test_ranks_of_a_call_divide_the_samples(self):
        parts = [part(rank, 4) for rank in range(4)]
        self.assertEqual(sorted(sum(parts, [])), list(range(SAMPLES)))
        with environment(RANK=3, WORLD_SIZE=4), torch_distributed(2, 3):
            ids, said = read(graph() | {"shard": {"rank": 1, "world": 2}}, rank=1, world_size=4)
        self.assertEqual(ids, parts[1])
        self.assertEqual(said, [("INFO", "reads as rank 1 of 4, set by rank= and world_size=")])

    def test_nonsense_is_an_error_of_the_call(self):
        for rank, world, error, text in (
                (1, None, ValueError, "rank=1, world_size=None: pass world_size=, too"),
                (None, 2, ValueError, "rank=None, world_size=2: pass rank=, too"),
                (2, 2, ValueError, "rank=2 of world_size=2: expected a rank from 0 to 1"),
                (-1, 2, ValueError, "rank=-1: expected a whole number from 0 on"),
                (0, 0, ValueError, "world_size=0: expected a whole number from 1 on"),
                (0.5, 2, TypeError, "rank=0.5: expected a whole number from 0 on")):
            for call in (brigade.Loader, brigade.open):
                with self.assertRaises(error) as caught:
                    call(graph(), rank=rank, world_size=world)
                self.assertEqual(str(caught.exception), text)

    def test_torch_distributed_comes_before_variables_and_is_said_once(self):
        with torch_distributed(1, 2):
            ids, said = read()
            self.assertEqual(ids, part(1, 2))
            self.assertEqual(said, [("INFO", "reads as rank 1 of 2, set by torch.distributed")])
            with environment(RANK=0, WORLD_SIZE=4):
                ids, said = read()
            self.assertEqual(ids, part(1, 2))
            self.assertEqual(said, [("WARNING", "reads as rank 1 of 2, set by torch.distributed; "
                                                "not used: RANK, WORLD_SIZE: rank 0 of 4")])
            with environment(RANK=1, WORLD_SIZE=2, SLURM_PROCID=0, SLURM_NTASKS=1):
                self.assertEqual(read()[1][0][0], "INFO", "an outer launcher counts machines")

    def test_numbers_in_the_graph_come_before_torch_distributed(self):
        with torch_distributed(1, 2):
            ids, said = read(graph() | {"shard": {"rank": 0, "world": 4}})
        self.assertEqual(ids, part(0, 4))
        self.assertEqual(said, [("INFO", "reads as rank 0 of 4, set by `shard:` of the graph; not "
                                         "used: torch.distributed: rank 1 of 2")])

    def test_what_is_initialized_before_the_first_batch_counts(self):
        with open_loader(graph()) as loader:
            self.assertEqual(len(loader), 16)
            with torch_distributed(1, 2):
                self.assertEqual(len(loader), 8)
                self.assertEqual(sorted(i for batch in loader for i in batch.ids), part(1, 2))

    def test_what_is_initialized_later_is_warned_of(self):
        with Log() as log, open_loader(graph()) as loader:
            for _ in loader:
                pass
            with torch_distributed(1, 2):
                for _ in range(2):
                    self.assertEqual(sum(batch.size for batch in loader), SAMPLES)
        self.assertEqual([level for level, text in log.lines if "initialized after" in text],
                         ["WARNING"])

    def test_what_is_initialized_after_a_part_of_an_epoch_is_an_error(self):
        with open_loader(graph()) as loader:
            next(iter(loader))
            with torch_distributed(1, 2), self.assertRaises(brigade.RunError) as caught:
                iter(loader)
        self.assertIn("graph.ranks was 0 of 1, is 1 of 2", str(caught.exception))

    def test_half_a_pair_of_variables_reads_all_with_a_warning(self):
        for half in ("RANK", "WORLD_SIZE"):
            with environment(**{half: 2}):
                ids, said = read()
                self.assertEqual(ids, list(range(SAMPLES)))
                self.assertEqual([level for level, _ in said], ["WARNING"])
                self.assertIn(f"the environment has {half} but no ", said[0][1])
                with torch_distributed(1, 2):
                    self.assertEqual(read()[0], part(1, 2))
        with environment(WORLD_SIZE=1):
            self.assertEqual(read(), (list(range(SAMPLES)), []))

    def test_launchers_inside_each_other_are_said(self):
        with environment(RANK=1, WORLD_SIZE=2, SLURM_PROCID=0, SLURM_NTASKS=4):
            ids, said = read()
        self.assertEqual(ids, part(1, 2))
        self.assertIn(("INFO", "rank 1 of 2, from RANK, WORLD_SIZE; ignored: SLURM_PROCID, "
                               "SLURM_NTASKS: rank 0 of 4"), said)

    def test_runs_take_a_rank(self):
        with brigade.open(graph(), tensors="dlpack", epochs=1, rank=1, world_size=2) as run:
            ids = [i for batch in run["train"] for i in batch.ids]
        self.assertEqual(sorted(ids), part(1, 2))

    def test_what_a_program_feeds_is_not_divided_and_not_warned_of(self):
        fed = {"stages": {
            "tasks": {"producer": "application", "tensors": {"x": {"dtype": "u8", "shape": [1]}}},
            "results": {"consumer": "application", "from": {"stage": "tasks", "batch": 1}}}}
        with environment(RANK=0, WORLD_SIZE=2), Log() as log:
            with brigade.open(fed, tensors="dlpack") as run:
                run.input("tasks").close()
                self.assertEqual(list(run["results"]), [])
        self.assertEqual([line for line in log.lines if line[0] == "WARNING"], [])


class DataLoaders(unittest.TestCase):
    """A sampler divides a dataset; launchers' variables change nothing."""

    def test_variables_end_no_loader_and_warn_of_nothing(self):
        for variables in ({"WORLD_SIZE": 2}, {"WORLD_SIZE": 1}, {"RANK": 1}, {"RANK": "first"},
                          {"RANK": 1, "WORLD_SIZE": 2, "LOCAL_RANK": 1,
                           "LOCAL_WORLD_SIZE": len(os.sched_getaffinity(0))}):
            with environment(**variables), Log() as log:
                loader = brigade.DataLoader(range(10), batch_size=4, num_workers=2,
                                            collate_fn=list)
                given = list(loader)
                loader.close()
            self.assertEqual(given, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]], variables)
            self.assertEqual([line for line in log.lines if line[0] != "INFO"], [], variables)

    def test_workers_have_the_variables_of_the_program(self):
        with environment(RANK=1, WORLD_SIZE=2):
            loader = brigade.DataLoader(RankVariables(1), batch_size=1, num_workers=1,
                                        collate_fn=list)
            self.assertEqual(next(iter(loader)), [("1", "2")])
            loader.close()


def _read_in_a_process(rank, world, meeting):
    for name in VARIABLES:
        os.environ.pop(name, None)
    import torch.distributed
    torch.distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank,
                                         world_size=world)
    with open_loader(graph()) as loader:
        ids = sorted(i for batch in loader for i in batch.ids)
    torch.distributed.destroy_process_group()
    if ids != part(rank, world):
        raise AssertionError(f"rank {rank} has read {len(ids)} samples, expected its part")


class Torch(unittest.TestCase):
    def test_a_spawned_process_reads_its_part(self):
        try:
            from torch import multiprocessing
        except ImportError:
            self.skipTest("torch is not installed (python3-torch)")
        with tempfile.TemporaryDirectory() as folder:
            multiprocessing.spawn(_read_in_a_process, (2, os.path.join(folder, "meeting")), 2)


if __name__ == "__main__":
    unittest.main(argv=["ranks_test.py"])
