"""Where a DataLoader stands, and how another one gets there."""

import array
import base64
import contextlib
import copy
import random
import sys

from ._data_fetch import has_state
from ._frameworks import next_epoch, set_next_epoch, taken_ahead

_VERSION = 2


class Position:
    """Of an epoch: what its iterator and its loader share, so that neither holds the other."""

    def __init__(self, loader):
        self.began = _states_of(loader)  # of all that may draw the order
        self.given = 0  # batches; of a map-style dataset all up to this one
        self.ahead = set()  # numbers of others that were given
        self.passed = None  # what stands() gave before the last batch
        self.ended = False
        self.seed = self.epoch = 0
        self.made = [[0, None]] * max(loader.num_workers, 1)  # of each worker: batches, state
        self.before = None  # how the epoch before has left each worker's dataset
        self.worker = 0  # that gives the next batch of an iterable dataset

    def gave(self, number):
        """Of a map-style dataset: that batch, or what was raised in its place."""
        self.ahead.add(number)
        while self.given in self.ahead:
            self.ahead.remove(self.given)
            self.given += 1

    def stands(self):
        return {"given": self.given, "ahead": sorted(self.ahead), "made": list(self.made),
                "worker": self.worker}


def _samplers(loader):
    """From outside in: a sampler of batches may have another one, as accelerate's do."""
    found, one = [], None if loader._iterable else loader._index_sampler
    while one is not None and one not in found:
        found.append(one)
        one = getattr(one, "sampler", getattr(one, "batch_sampler", None))
    return found


def _generators(loader):
    found = [loader.generator, *(getattr(one, "generator", None) for one in _samplers(loader))]
    unique = {id(one): one for one in found if hasattr(one, "get_state")}
    return list(unique.values())


def _text(words):
    return base64.b64encode(bytes(words)).decode()


def _states_of(loader):
    """Numbers and text, but for what samplers say themselves."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    version, words, gauss = random.getstate()
    states = {"random": [version, _text(array.array("I", words)), gauss], "numpy": None,
              "torch": _text(torch.get_rng_state().tolist()) if torch else None}
    if numpy:
        name, words, *rest = numpy.random.get_state()
        states["numpy"] = [name, _text(words.astype("<u4")), *rest]
    states["generators"] = [_text(one.get_state().tolist()) for one in _generators(loader)]
    states["samplers"] = [copy.deepcopy(one.state_dict()) if hasattr(one, "state_dict") else None
                          for one in _samplers(loader)]
    states["epoch"] = next_epoch(loader.dataset)
    return states


def _set_global(states):
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    version, words, gauss = states["random"]
    random.setstate((version, tuple(array.array("I", base64.b64decode(words))), gauss))
    if numpy and states["numpy"] is not None:
        name, words, *rest = states["numpy"]
        numpy.random.set_state((name, numpy.frombuffer(base64.b64decode(words), "<u4"), *rest))
    if torch and states["torch"] is not None:
        torch.set_rng_state(_tensor(states["torch"]))


def _tensor(text):
    import torch
    return torch.frombuffer(bytearray(base64.b64decode(text)), dtype=torch.uint8)


def _set_own(loader, states):
    for generator, state in zip(_generators(loader), states["generators"]):
        generator.set_state(_tensor(state))
    for sampler, state in zip(_samplers(loader), states["samplers"]):
        if state is not None:
            sampler.load_state_dict(copy.deepcopy(state))
    set_next_epoch(loader.dataset, states.get("epoch"))


@contextlib.contextmanager
def as_it_began(loader, state):
    """What draws the order stands where it stood when the epoch began; the process's own
    generators only meanwhile."""
    if state is None:
        yield
        return
    now = _states_of(loader)
    _set_global(state["began"])
    _set_own(loader, state["began"])
    try:
        yield
    finally:
        _set_global(now)


def state_of(loader):
    if loader._resume is not None:
        return loader._resume
    at = loader._position
    state = {"version": _VERSION, "workers": int(loader.num_workers), "given": 0, "ended": True,
             "now": _states_of(loader)}
    if at is None:
        return state
    ahead = taken_ahead(loader) and at.passed is not None
    state.update(copy.deepcopy(at.passed if ahead else at.stands()), seed=at.seed, epoch=at.epoch,
                 ended=at.ended and not ahead, began=at.began, before=at.before)
    if loader.num_workers == 0 and not loader._iterable and has_state(loader.dataset):
        state["dataset"] = copy.deepcopy(loader.dataset.state_dict())
    return state


def left_before(loader, state):
    """What state() of each worker's dataset was when the epoch before had ended."""
    if state is not None:
        return state.get("before")
    last = loader._position
    if not loader.persistent_workers or last is None or not last.ended:
        return None
    return [of_dataset for _, of_dataset in last.made]


def check(state, loader):
    if not isinstance(state, dict) or state.get("version") != _VERSION or "given" not in state:
        raise ValueError("load_state_dict(): expected what state_dict() of a brigade.DataLoader "
                         f"gave, found {str(state)[:60]}")
    if loader._iterable and state["workers"] != loader.num_workers and not state["ended"]:
        raise ValueError(f"load_state_dict(): num_workers was {state['workers']}, is "
                         f"{loader.num_workers}: each worker has its own part of an iterable "
                         "dataset, so it has to be the same")


def take(loader):
    """The state that the next epoch goes on from, or that of an epoch which begins where another
    one has ended; None: it begins with the generators as they are. An iterable dataset that is
    there for all epochs begins as that one has left it."""
    state, loader._resume = loader._resume, None
    if state is None or not state["ended"]:
        return state
    stays = loader.persistent_workers or loader.num_workers == 0
    same = stays and "made" in state and state["workers"] == loader.num_workers
    return {**state, "began": state["now"], "given": 0, "ahead": [], "worker": 0,
            "before": [of_dataset for _, of_dataset in state["made"]] if same else None,
            "made": [[0, None]] * max(loader.num_workers, 1)}
