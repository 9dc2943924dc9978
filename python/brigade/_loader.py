"""The loop of a training program."""

import collections
import gc
import json

from . import _graph
from ._batch import kind_of_tensors
from ._device import PREFETCH, device_of_loader
from ._errors import duration_of, whole
from ._events import checked
from ._frameworks import lightning_s, taken_ahead
from ._log import logger
from ._ranks import Ranks
from ._reading import Ahead, Epoch, Mark, Reading, Shown, state_of
from ._run import Run
from ._shown import batches_of_plan, counted, never_raises, table

_STATE_VERSION = 1
_EPOCHS_MAX = 65_536  # that every graph can have
# Where a loader stands, replaced by one store. `epoch`: that the next iter() reads or continues;
# `given`: batches of it, by the loader whose state was loaded; `skip`: those from `state` on that
# are not given again; `state`: where the next run begins; `first`: the epoch that is the run's
# first, of a stream that began anew; `run`; `reading`: of the iterator that may be read.
_At = collections.namedtuple("_At", "epoch given skip state first run reading")
_TEXT = ("utf-8", "surrogateescape")  # any bytes, there and back


class Loader:
    """An iterable over the batches of one output of a graph, one epoch per iter().

    `graph`: a path, several of them (later ones override the first), YAML, or a dict. `output`: the
    stage to read; omit it if the graph has one `consumer: application`. `set`: as `--set`,
    {"vars.data": "/data"}. `epochs`: the most epochs (65,536); the graph's own `epochs:` has no
    effect. `hold`: how many batches the program may hold at once. `hold_timeout`: seconds that the
    loop waits for one of them to be released, before a `HeldError` (1). `limit`: at most
    so many samples of every producer. `tensors`: "torch", "numpy" or "dlpack"; by default torch
    if it is imported, otherwise NumPy if it is installed. `in_process`: threads instead of
    processes, for debuggers.
    `progress`: a tqdm bar for each epoch, if tqdm is installed. `rank`, `world_size`: the part of
    the samples that this process reads, rank 0 of 1 all of them; ranks of one divided model
    (tensor, pipeline parallel) pass the same numbers. By default, `shard:` of the graph,
    torch.distributed or the launcher sets them (docs/RANKS.md). `device`: "cuda" or "cuda:N", to
    which batches are copied, `prefetch` (2) of them before the loop asks for them; they are torch
    tensors in separate memory. "host" is a GPU emulator. `on_event`: a function that another thread
    calls with each `Event` of a run; the run does not wait for it.

    Errors in the graph raise a `GraphError` here; processes start with the first iter().

    >>> import brigade
    >>> with brigade.Loader(brigade.examples.NUMBERS, tensors="numpy") as loader:
    ...     for epoch in range(2):
    ...         print(epoch, len(loader), [batch.size for batch in loader])
    0 3 [4, 4, 4]
    1 3 [4, 4, 4]

    An iter() begins the next epoch, even if the previous one was left early: the rest of that one
    is not computed. A stream that was left early starts over. Only one thread at a time iterates.
    """

    def __init__(self, graph, output=None, *, set=None, epochs=None,  # noqa: A002
                 hold=None, limit=0, tensors=None, in_process=False, progress=False,
                 device=None, prefetch=None, rank=None, world_size=None, on_event=None,
                 hold_timeout=None):
        if epochs is not None:
            epochs = whole("epochs", epochs, 1)
        if output is not None and not isinstance(output, str):
            raise TypeError(f"output={output!r}: expected the name of a stage")
        self._device = device_of_loader(device, tensors)
        if self._device is not None:
            tensors = "torch"
        elif prefetch is not None:
            raise ValueError(f"prefetch={prefetch!r} needs device=: it is the number of batches "
                             "copied ahead to the device")
        self._prefetch = PREFETCH if prefetch is None else whole("prefetch", prefetch, 0)
        self._ranks = Ranks(rank, world_size)
        self._graph = _graph.read(graph, set)
        self._graph.limit(whole("limit", limit, 0))
        self._epochs = epochs
        self._options = {"kind": kind_of_tensors(tensors), "in_process": in_process,
                         "on_event": checked(on_event)}
        self._progress = progress
        self._output_name = output if output is not None else self._only_output()
        self._graph.read(self._output_name)
        self._graph.set(f"epochs={epochs or _EPOCHS_MAX}")
        if hold is not None:
            self._graph.set(f"stages.{self._output_name}.hold={hold}")
        if hold_timeout is not None:
            duration = duration_of("hold_timeout", hold_timeout)
            self._graph.set(f"stages.{self._output_name}.hold_timeout={duration}")
        self._make_plan()
        # What is read is all that the graph is cut to, so it has one consumer.
        self._hold = next(one["hold"] for one in self._plan["stages"] if one["kind"] == "consumer")
        self._at = _At(0, 0, 0, None, 0, None, None)
        self._left = {}  # runs that are to end
        self._stats = None
        self._counted = False  # whether the plan knows the samples of all sources that can tell
        self._late = False  # whether it was said that ranks have changed
        self._closed = False

    def _make_plan(self):
        self._ranks.tell(self._graph)
        self._plan = json.loads(self._graph.plan(_graph.app()))

    def _only_output(self):
        self._ranks.tell(self._graph)
        plan = json.loads(self._graph.plan(_graph.app()))
        consumers = [one["name"] for one in plan["stages"] if one["kind"] == "consumer"]
        programs = [one["name"] for one in plan["stages"] if one["type"] == "application" and
                    one["kind"] == "consumer"]
        names = programs or consumers
        if len(names) == 1:
            return names[0]
        others = ", ".join(names or [one["name"] for one in plan["stages"]])
        raise ValueError(f'choose the stage to read with output="NAME"; the graph has {others}')

    # --- iteration --------------------------------------------------------------------------------

    def __iter__(self):
        """Iterates over the next epoch, or over the rest of one after load_state_dict()."""
        self._check_open()
        self._end_left()
        self._leave()
        at = self._at
        if self._epochs is not None and at.epoch >= self._epochs:
            return iter(())
        if at.run is None:
            self._start()
        elif self._ranks.changed() and not self._late:
            self._late = True
            self._ranks.warn_late()
        at = self._at
        reading = at.reading.again() if at.reading else Reading(at, state_of(at.run))
        if self._device and reading.ahead is None:
            reading.ahead = Ahead(self._device, self._prefetch, self._hold)
        reading.watched = lightning_s(self) is not None and self._length() is None
        self._at = at._replace(reading=reading)
        iterator = Epoch(self, reading)
        return self._with_bar(iterator) if self._progress else iterator

    def __len__(self):
        """Batches per epoch, known before the first one: folders, archives and tables are scanned
        for it, once. TypeError if only reading shows it: downstream of streams and of stages that
        drop samples or make several of each."""
        if self._at.run is None and self._ranks.changed():
            self._make_plan()
        if not self._counted and self._unknown():
            self._count()
        why = self._unknown()
        if why:
            raise TypeError(f"the number of batches per epoch of {self._output_name} is unknown "
                            f"until an epoch has been read: {why[0]}")
        return sum(one["batches"] for one in self._plan["consumers"])

    def _unknown(self):
        """Why the number of batches is not known."""
        return [one["unknown"] for one in self._plan["consumers"] if one["batches"] is None]

    def _count(self):
        self._counted = True
        self._graph.count()
        self._make_plan()

    def _length(self):
        try:
            return len(self)
        except TypeError:
            return None

    def _with_bar(self, iterator):
        try:
            from tqdm.auto import tqdm
        except ImportError:
            logger.warning("progress=True needs tqdm, which is not installed (pip install tqdm)")
            self._progress = False  # said once
            return iterator
        at = self._at
        return Shown(iterator, tqdm(total=self._length(), initial=at.given,
                                    desc=f"epoch {at.epoch}"), at.given)

    def _leave(self):
        """An epoch that was not read to its end; the next one begins where it begins."""
        at = self._at
        if at.reading is None or not at.reading.given():
            return
        epoch, state, first = at.epoch + 1, at.state, at.first
        if epoch < (self._epochs or _EPOCHS_MAX):
            state = at.run and state_of(at.run, epoch - first) or at.reading.following
            first = epoch if state is None else first
        self._go_to(_At(epoch, 0, 0, state, first, None, None))

    def _start(self):
        if self._ranks.changed():
            self._make_plan()
        self._ranks.say(self._plan)
        if self._at.state is not None:
            self._graph.set_state(self._at.state)
        self._at = self._at._replace(run=Run(self._graph, **self._options))

    def _leave_old_batches(self):
        """Continues in another run: a program that still holds batches of an earlier epoch (for
        example the last one, in a loop variable) could otherwise get none of this one."""
        at = self._at
        state = state_of(at.run)
        if state is not None:  # else of a stream
            at.reading.following = state_of(at.run, at.reading.of_run + 1)
            self._go_to(at._replace(state=state, run=None))

    def _open_output(self):
        if self._at.run is None:
            self._check_open()
            self._start()
        return self._at.run.output(self._output_name)

    def _finished(self, reading):
        at = self._at
        if at.reading is reading:
            self._at = at._replace(epoch=at.epoch + 1, given=0, skip=0, reading=None)

    # --- positions --------------------------------------------------------------------------------

    def state_dict(self):
        """The position after the last batch that the loop received, as in torchdata: for
        load_state_dict() of a loader of the same graph, which continues with exactly the batches
        not yet delivered. Numbers and text, suitable for pickle and JSON."""
        self._check_open()
        if self._at.run is None:
            self._start()
        at = self._at
        given, skip, state = at.given, at.skip, None
        if at.reading is not None:
            read, skip, state = at.reading.stands(taken_ahead(self))
            given += read
        if isinstance(state, Mark):
            state = state.state()
        made = {"version": _STATE_VERSION, "epoch": at.epoch, "given": given,
                "state": (state or at.run.state()).decode(*_TEXT)}
        return {**made, "skip": skip} if skip else made

    def load_state_dict(self, state):
        """The next iter() resumes there. It raises an error if the state does not fit the graph."""
        self._check_open()
        if not (isinstance(state, dict) and state.get("version") == _STATE_VERSION and
                isinstance(state.get("epoch"), int) and
                isinstance(state.get("state"), (str, bytes))):
            raise ValueError("load_state_dict(): expected the result of state_dict() of a "
                             f"brigade.Loader, found {str(state)[:60]}")
        where, given, skip = state["state"], state.get("given", 0), state.get("skip", 0)
        self._go_to(_At(state["epoch"], given, skip, where if isinstance(where, bytes) else
                        where.encode(*_TEXT), 0, None, None))

    # --- the rest ---------------------------------------------------------------------------------

    def plan(self):
        """The plan, as `brigade plan --json` prints it."""
        if not self._counted:
            self._count()
        return self._plan

    def stats(self):
        """Progress of the current run, as Run.stats(); otherwise the summary of the last run, as
        `brigade run --summary` writes it. Empty before the first."""
        run = self._at.run
        if run is not None:
            return run.stats()
        return self._stats or {}

    def close(self):
        """Ends the run and its processes. Held batches stay valid."""
        self._closed = True
        self._go_to(self._at._replace(run=None))

    def _go_to(self, at):
        """To another position, with one store; the run that it leaves ends."""
        if self._at.run is not None:
            self._left[self._at.run] = True
        self._at = at
        self._end_left()

    def _end_left(self):
        for run in list(self._left):
            if run is not self._at.run:
                run.close()
                self._stats = run.stats()
            self._left.pop(run, None)

    def _check_open(self):
        if self._closed:
            raise ValueError("the loader is closed")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @never_raises("<brigade.Loader>")
    def __repr__(self):
        tensors = "; ".join(", ".join(f"{name} {dtype}{shape}" for name, dtype, shape in of_source)
                            for _, of_source in batches_of_plan(self._plan))
        facts = ", ".join(value if name == "length" else f"{name} {value}"
                          for name, value in self._facts())
        return f"<brigade.Loader of {self._output_name}: {tensors}; {facts}>"

    @never_raises(None)
    def _repr_html_(self):
        rows = [(port, *tensor) for port, tensors in batches_of_plan(self._plan)
                for tensor in tensors]
        return table(f"brigade.Loader of {self._output_name}", self._facts(),
                     ("from", "tensor", "dtype", "batch"), rows)

    def _facts(self):
        """What is known without a look at the data."""
        shard = self._plan["shard"]
        epochs = self._plan["consumers"]
        length = ("not counted yet" if self._unknown() and not self._counted else
                  "of unknown length" if self._unknown() else
                  f"{counted(sum(one['batches'] for one in epochs), 'batch', 'batches')} of "
                  f"{counted(sum(one['samples'] for one in epochs), 'sample', 'samples')}")
        facts = [("length", length), ("seed", self._plan["seed"]), ("epoch", self._at.epoch)]
        if shard["world"] > 1:
            facts.append(("rank", f"{shard['rank']} of {shard['world']}"))
        return facts + [("closed", "yes")] * self._closed
