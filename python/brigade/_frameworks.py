"""Support for frameworks that drive a DataLoader, and messages to their users."""

import re
import sys

from ._log import logger
from ._ranks import of_torch

# Those that rebuild loaders, in the versions that tests/frameworks runs.
TESTED = {"accelerate": "1.15.0", "lightning": "2.6.6", "pytorch_lightning": "2.6.6",
          "ray": "2.60.0"}
_FETCHERS = ("lightning.pytorch.loops.fetchers", "pytorch_lightning.loops.fetchers")
_told = set()  # once in a program


def _numbers(version):
    return [int(one) for one in re.findall(r"\d+", version)[:2]]


def tell_untested():
    """Warns about a framework that is older than the tested version."""
    for name, tested in TESTED.items():
        module = sys.modules.get(name)
        if module is None or name in _told:
            continue
        _told.add(name)
        version = str(getattr(module, "__version__", tested))
        if _numbers(version) < _numbers(tested):
            logger.warning("DataLoader: %s %s is older than the tested version (%s); compare "
                           "len(loader) and the first samples of two ranks with torch's "
                           "DataLoader", name, version, tested)


def tell_ranks(loader):
    """Reports once per loader, with its first batch, if torch's samplers or an iterable dataset may
    give every rank the same samples. Rank 0 may read for all."""
    rank, world = of_torch() or (0, 1)
    if rank == 0:
        return
    if loader._iterable:
        logger.info("DataLoader: rank %d of %d reads a %s, which must divide its samples among "
                    "ranks itself", rank, world, type(loader.dataset).__name__)
        return
    data = sys.modules["torch.utils.data"]
    own = loader._index_sampler
    if type(own) is data.BatchSampler:
        own = own.sampler
    if type(own) in (data.SequentialSampler, data.RandomSampler):
        logger.warning("DataLoader: rank %d of %d reads all %d samples, and other ranks may do "
                       "the same, because %s does not divide them. Pass a DistributedSampler, "
                       "or let the framework prepare the loader; ignore this if ranks must read "
                       "the same samples",
                       rank, world, len(own), type(own).__name__)


def _streaming(dataset):
    """True for a StreamingDataset of mosaicml-streaming, which counts its epochs itself."""
    kind = getattr(sys.modules.get("streaming"), "StreamingDataset", None)
    return isinstance(kind, type) and isinstance(dataset, kind)


def next_epoch(dataset):
    """The epoch that the dataset starts with the next iter(), in any process; None if unknown."""
    return int(dataset.next_epoch) if _streaming(dataset) else None


def set_next_epoch(dataset, epoch):
    if epoch is not None and _streaming(dataset):
        dataset.next_epoch = epoch


def lightning_s(loader):
    """The Lightning object that reads the loader, if Lightning is the caller."""
    if not any(name in sys.modules for name in _FETCHERS):
        return None
    frame = sys._getframe(1)
    while frame is not None:
        fetcher = getattr(frame.f_locals.get("self"), "_data_fetcher", None)
        combined = getattr(fetcher, "_combined_loader", None)
        if combined is not None and any(one is loader for one in combined.flattened):
            return fetcher
        frame = frame.f_back
    return None


def taken_ahead(loader):
    """Number of batches that Lightning has read but not yet passed to the model: it reads one ahead
    if len() is unknown."""
    return len(getattr(lightning_s(loader), "batches", ()))
