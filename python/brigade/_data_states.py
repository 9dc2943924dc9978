"""Positions of a DataLoader, and how another loader resumes there."""

import array
import base64
import collections
import contextlib
import copy
import random
import sys

from ._data_fetch import has_state
from ._frameworks import next_epoch, set_next_epoch, taken_ahead

_VERSION = 2


class Stands(collections.namedtuple("Stands", "given ahead made worker ended passed")):
    """Position after a batch of an epoch. `given`: batches; for a map-style dataset all up to this
    one, and the numbers `ahead`. `made`: batches and state per worker. `worker`: source of the next
    batch of an iterable dataset. `passed`: batches before that one."""

    __slots__ = ()

    def has(self, number):
        """For a map-style dataset: True if this batch was delivered, or its exception raised."""
        return number < self.given or number in self.ahead

    def behind(self, **changed):
        return self._replace(passed=self._replace(passed=None), **changed)

    def gave(self, number):
        given, ahead = self.given, {*self.ahead, number}
        while given in ahead:
            ahead.remove(given)
            given += 1
        return self.behind(given=given, ahead=ahead)

    def with_made(self, worker, batches, state):
        made = list(self.made)
        made[worker] = [batches, state]
        return self._replace(made=made)

    def as_dict(self):
        return {"given": self.given, "ahead": sorted(self.ahead), "made": list(self.made),
                "worker": self.worker}


class Position:
    """State of an epoch shared by its iterator and its loader, so that neither holds the other."""

    def __init__(self, loader, state):
        self.began = state["began"] if state else _states_of(loader)  # of all that may draw
        self.before = left_before(loader, state)  # how that epoch left each worker's dataset
        self.seed = self.epoch = 0
        self.now = Stands(0, frozenset(), [[0, None]] * max(loader.num_workers, 1), 0, False, None)
        if state:
            self.now = self.now._replace(
                given=state["given"], ahead=set(state.get("ahead", ())),
                made=copy.deepcopy(state["made"]), worker=state["worker"])


def _samplers(loader):
    """The samplers from outside in: a batch sampler may contain another one, as in accelerate."""
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
    """The state as numbers and text, except states of samplers."""
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
    """Resets the generators of the order to the start of the epoch; the process's own generators
    only temporarily."""
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
    at = loader._position
    if isinstance(at, dict):
        return at
    state = {"version": _VERSION, "workers": int(loader.num_workers), "given": 0, "ended": True,
             "now": _states_of(loader)}
    if at is None:
        return state
    now = at.now
    if now.passed is not None and taken_ahead(loader):
        now = now.passed._replace(ended=False)
    state.update(copy.deepcopy(now.as_dict()), seed=at.seed, epoch=at.epoch, ended=now.ended,
                 began=at.began, before=at.before)
    if loader.num_workers == 0 and not loader._iterable and has_state(loader.dataset):
        state["dataset"] = copy.deepcopy(loader.dataset.state_dict())
    return state


def left_before(loader, state):
    """State of each worker's dataset at the end of the previous epoch."""
    if state is not None:
        return state.get("before")
    last = loader._position
    if not loader.persistent_workers or last is None or not last.now.ended:
        return None
    return [of_dataset for _, of_dataset in last.now.made]


def check(state, loader):
    if not isinstance(state, dict) or state.get("version") != _VERSION or "given" not in state:
        raise ValueError("load_state_dict(): expected the result of state_dict() of a "
                         f"brigade.DataLoader, found {str(state)[:60]}")
    if loader._iterable and state["workers"] != loader.num_workers and not state["ended"]:
        raise ValueError(f"load_state_dict(): num_workers was {state['workers']}, is now "
                         f"{loader.num_workers}; use the same number, because each worker has "
                         "its own part of an iterable dataset")


def to_resume(loader):
    """The state from which the next epoch resumes, or of an epoch that starts where another one
    ended; None: it starts with the generators as they are. An iterable dataset that lives for all
    epochs starts as the previous epoch left it."""
    state = loader._position
    if not isinstance(state, dict):
        return None
    if not state["ended"]:
        return state
    stays = loader.persistent_workers or loader.num_workers == 0
    same = stays and "made" in state and state["workers"] == loader.num_workers
    return {**state, "began": state["now"], "given": 0, "ahead": [], "worker": 0,
            "before": [of_dataset for _, of_dataset in state["made"]] if same else None,
            "made": [[0, None]] * max(loader.num_workers, 1)}
