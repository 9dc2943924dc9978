"""The part of the sources that a process reads, set by its call, otherwise by `shard:` of the
graph, otherwise by torch.distributed if it is initialized, otherwise by the variables of a
launcher."""

import logging
import sys

from ._errors import whole
from ._log import logger


def given(rank, world_size):
    """The (rank, world) of a call, or None."""
    if rank is None and world_size is None:
        return None
    if rank is None or world_size is None:
        missing = "world_size" if world_size is None else "rank"
        raise ValueError(f"rank={rank!r}, world_size={world_size!r}: pass {missing}=, too")
    rank, world = whole("rank", rank, 0), whole("world_size", world_size, 1)
    if rank >= world:
        raise ValueError(f"rank={rank} of world_size={world}: expected a rank from 0 to "
                         f"{world - 1}")
    return rank, world


def of_torch():
    """(rank, world) of torch.distributed; None if it is not initialized. Imports nothing."""
    distributed = sys.modules.get("torch.distributed")
    is_initialized = getattr(distributed, "is_initialized", None)
    if is_initialized is None or not is_initialized():
        return None
    return distributed.get_rank(), distributed.get_world_size()


class Ranks:
    """The rank that a loader or a run passes to its graph and reports to its user."""

    def __init__(self, rank, world_size):
        self._given = given(rank, world_size)
        self._told = None  # to the graph
        self._said = False  # in the log

    def changed(self):
        """True if torch.distributed changed since the graph was set up."""
        return self._now() != self._told

    def tell(self, graph):
        """Sets the rank of the graph before it is planned or started."""
        now = self._now()
        if self._told is not None and now != self._told:
            self._said = False
        self._told = now
        graph.set_rank(*self._told, self._given is not None)

    def _now(self):
        return self._given or of_torch() or (0, 0)

    def say(self, plan):
        """Reports once, for the plan of a run that starts."""
        if self._said:
            return
        self._said = True
        level, text = self._line(plan["ranks"], f"rank {plan['shard']['rank']} of "
                                                f"{plan['shard']['world']}")
        if text:
            logger.log(level, "%s", text)

    def _line(self, origin, this):
        if self._given:
            return logging.INFO, f"reads as {this}, set by rank= and world_size="
        if origin["by"] == "program":
            unlike = "; ".join(origin["unlike"])
            return (logging.WARNING if unlike else logging.INFO,
                    f"reads as {this}, set by torch.distributed" +
                    (f"; not used: {unlike}" if unlike else ""))
        if origin["by"] == "shard" and self._told[1]:
            rank, world = self._told
            return logging.INFO, (f"reads as {this}, set by `shard:` of the graph; not used: "
                                  f"torch.distributed: rank {rank} of {world}")
        if origin["half"] and not origin["by"]:
            other = "WORLD_SIZE" if origin["half"] == "RANK" else "RANK"
            return logging.WARNING, (
                f"reads all samples, because the environment has {origin['half']} but no "
                f"{other}; set both, initialize torch.distributed before the first batch, or "
                "pass rank= and world_size=")
        return logging.INFO, ""

    def warn_late(self):
        """Warns about a run that has already started."""
        logger.warning("torch.distributed was initialized after the first epoch, so this loader "
                       "ignores it; create the loader, or read its first batch, after the "
                       "initialization")
