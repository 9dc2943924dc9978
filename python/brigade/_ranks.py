"""Which part of the sources a process reads: what its call says, else `shard:` of the graph, else
torch.distributed where it is initialized, else the variables of a launcher."""

import logging
import sys

from ._errors import whole
from ._log import logger


def given(rank, world_size):
    """Of a call: (rank, world), or None."""
    if rank is None and world_size is None:
        return None
    if rank is None or world_size is None:
        missing = "world_size" if world_size is None else "rank"
        raise ValueError(f"rank={rank!r}, world_size={world_size!r}: give {missing}=, too")
    rank, world = whole("rank", rank, 0), whole("world_size", world_size, 1)
    if rank >= world:
        raise ValueError(f"rank={rank} of world_size={world}: expected a rank from 0 to "
                         f"{world - 1}")
    return rank, world


def of_torch():
    """(rank, world) of torch.distributed; None where it is not initialized. Imports nothing."""
    distributed = sys.modules.get("torch.distributed")
    is_initialized = getattr(distributed, "is_initialized", None)
    if is_initialized is None or not is_initialized():
        return None
    return distributed.get_rank(), distributed.get_world_size()


class Ranks:
    """What a loader, or a run, tells its graph of ranks, and its user."""

    def __init__(self, rank, world_size):
        self._given = given(rank, world_size)
        self._told = None  # to the graph
        self._said = False  # in the log

    def changed(self):
        """Whether torch.distributed says something else than when the graph was told."""
        return self._now() != self._told

    def tell(self, graph):
        """Before the graph is planned or started."""
        now = self._now()
        if self._told is not None and now != self._told:
            self._said = False
        self._told = now
        graph.set_rank(*self._told, self._given is not None)

    def _now(self):
        return self._given or of_torch() or (0, 0)

    def say(self, plan):
        """Once, of the plan of a run that begins."""
        if self._said:
            return
        self._said = True
        level, text = self._line(plan["ranks"], f"rank {plan['shard']['rank']} of "
                                                f"{plan['shard']['world']}")
        if text:
            logger.log(level, "%s", text)

    def _line(self, origin, this):
        if self._given:
            return logging.INFO, f"reads as {this}, by rank= and world_size="
        if origin["by"] == "program":
            unlike = "; ".join(origin["unlike"])
            return (logging.WARNING if unlike else logging.INFO,
                    f"reads as {this}, by torch.distributed" +
                    (f"; not used: {unlike}" if unlike else ""))
        if origin["by"] == "shard" and self._told[1]:
            rank, world = self._told
            return logging.INFO, (f"reads as {this}, by `shard:` of the graph; not used: "
                                  f"torch.distributed: rank {rank} of {world}")
        if origin["half"] and not origin["by"]:
            other = "WORLD_SIZE" if origin["half"] == "RANK" else "RANK"
            return logging.WARNING, (
                f"reads all samples: the environment has {origin['half']} and no {other}; set "
                "both, initialize torch.distributed before the first batch, or give rank= and "
                "world_size=")
        return logging.INFO, ""

    def warn_late(self):
        """Of a run that has begun already."""
        logger.warning("torch.distributed was initialized after the first epoch: this loader stays "
                       "as it is; make it, or read its first batch, after that")
