"""The loop that training programs have."""

import gc
import json

from . import _graph
from ._batch import kind_of_tensors
from ._device import PREFETCH, Ahead, device_of_loader
from ._errors import RunError, whole
from ._frameworks import lightning_s, taken_ahead
from ._log import logger
from ._ranks import Ranks
from ._run import Run
from ._shown import batches_of_plan, counted, never_raises, table

_STATE_VERSION = 1
_EPOCHS_MAX = 65_536  # that every graph can have
_TEXT = ("utf-8", "surrogateescape")  # any bytes, there and back


class Loader:
    """One output of a graph, an epoch at a time: what a loop over a DataLoader becomes.

    `graph`: a path, several of them (later ones lie over the first), YAML, or a dict. `output`: the
    stage whose batches are read; it may be left away where the graph has one
    `consumer: application`. `set`: as `--set`, {"vars.data": "/data"}. `epochs`: how many there are
    at most (65,536); the graph's own `epochs:` does not count.
    `hold`: how many batches the program may have at once. `limit`: so many samples of every
    producer. `tensors`: "torch", "numpy" or "dlpack"; unless given, torch where it is imported,
    else NumPy where it is installed. `in_process`: threads instead of processes, for debuggers.
    `progress`: a bar of tqdm's for each epoch, where tqdm is installed.
    `rank`, `world_size`: the part of the samples that this process reads, rank 0 of 1 all of them;
    ranks of one model that is divided (tensor, pipeline parallel) give the same numbers. Unless
    given, `shard:` of the graph, torch.distributed or the launcher says it (docs/RANKS.md).
    `device`: "cuda" or "cuda:N", where batches are copied, `prefetch` (2) of them before the loop
    asks for them; they are tensors of torch and hold nothing of the graph. "host" are threads that
    stand for a device, where there is none.

    Mistakes in the graph are a `GraphError` of this call; processes start with the first iter().

    >>> import brigade
    >>> with brigade.Loader(brigade.examples.NUMBERS, tensors="numpy") as loader:
    ...     for epoch in range(2):
    ...         print(epoch, len(loader), [batch.size for batch in loader])
    0 3 [4, 4, 4]
    1 3 [4, 4, 4]

    An iter() begins the next epoch, also where the one before was left early: the rest of that one
    is not made. A stream that was left early begins anew. One thread at a time iterates.
    """

    def __init__(self, graph, output=None, *, set=None, epochs=None,  # noqa: A002
                 hold=None, limit=0, tensors=None, in_process=False, progress=False,
                 device=None, prefetch=None, rank=None, world_size=None):
        if epochs is not None:
            epochs = whole("epochs", epochs, 1)
        if output is not None and not isinstance(output, str):
            raise TypeError(f"output={output!r}: expected the name of a stage")
        self._device = device_of_loader(device, tensors)
        if self._device is not None:
            tensors = "torch"
        elif prefetch is not None:
            raise ValueError(f"prefetch={prefetch!r} is of batches that are copied to a device: "
                             "give device=, too")
        self._prefetch = PREFETCH if prefetch is None else whole("prefetch", prefetch, 0)
        self._ranks = Ranks(rank, world_size)
        self._graph = _graph.read(graph, set)
        self._graph.limit(whole("limit", limit, 0))
        self._epochs = epochs
        self._options = {"kind": kind_of_tensors(tensors), "in_process": in_process}
        self._progress = progress
        self._output_name = output if output is not None else self._only_output()
        self._graph.read(self._output_name)
        self._graph.set(f"epochs={epochs or _EPOCHS_MAX}")
        if hold is not None:
            self._graph.set(f"stages.{self._output_name}.hold={hold}")
        self._make_plan()
        # What is read is all that the graph is cut to, so it has one consumer.
        self._hold = next(one["hold"] for one in self._plan["stages"] if one["kind"] == "consumer")
        self._run = self._reading = self._state = self._stats = None
        self._counted = False  # whether the plan knows the samples of all sources that can tell
        self._epoch = 0  # that the next iter() reads, or goes on with
        self._given = 0  # batches of that epoch, by the loader whose state was loaded
        self._first = 0  # the epoch that is the run's first: of a stream that began anew
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
        raise ValueError(f'say which stage to read, as output="NAME": the graph has {others}')

    # --- iteration --------------------------------------------------------------------------------

    def __iter__(self):
        """Of the next epoch; of what is left of one after load_state_dict()."""
        self._check_open()
        if self._reading is not None:
            self._leave(self._reading)
        if self._epochs is not None and self._epoch >= self._epochs:
            return iter(())
        if self._run is None:
            self._start()
        elif self._ranks.changed() and not self._late:
            self._late = True
            self._ranks.warn_late()
        self._reading = _Reading(self._epoch, self._epoch - self._first)
        ahead = self._device and Ahead(self._device, self._prefetch, self._hold, self._run)
        self._reading.watched = lightning_s(self) is not None and self._length() is None
        iterator = _Epoch(self, self._run.output(self._output_name), self._reading, ahead)
        return self._with_bar(iterator) if self._progress else iterator

    def __len__(self):
        """Batches of an epoch, known before the first one: folders, archives and tables are looked
        through for it, once. TypeError where only reading tells: below streams and stages that drop
        samples or make several of each."""
        if self._run is None and self._ranks.changed():
            self._make_plan()
        if not self._counted and self._unknown():
            self._count()
        why = self._unknown()
        if why:
            raise TypeError(f"how many batches of {self._output_name} an epoch has is not known "
                            f"before it has been read: {why[0]}")
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

    def _stands(self):
        """The state behind the last batch that was given; None of a stream."""
        try:
            return self._reading.state or self._run.state()
        except RunError:
            return None

    def _with_bar(self, iterator):
        try:
            from tqdm.auto import tqdm
        except ImportError:
            logger.warning("progress=True shows no bar: tqdm is not installed (pip install tqdm)")
            self._progress = False  # said once
            return iterator
        return iter(tqdm(iterator, total=self._length(), initial=self._given,
                         desc=f"epoch {self._epoch}"))

    def _leave(self, reading):
        """An epoch that was not read to its end; the next one begins where it begins."""
        self._reading = None
        if not reading.given:
            return
        self._epoch, self._given = reading.epoch + 1, 0
        if self._epoch < (self._epochs or _EPOCHS_MAX):
            try:
                self._state = self._run.state(self._epoch - self._first)
            except RunError:  # of a stream, which has no positions
                self._state, self._first = None, self._epoch
        self._end_run()

    def _start(self):
        if self._ranks.changed():
            self._make_plan()
        self._ranks.say(self._plan)
        if self._state is not None:
            self._graph.set_state(self._state)
        self._run = Run(self._graph, **self._options)

    def _leave_old_batches(self):
        """Goes on in another run: a program that still holds batches of an earlier epoch (the last
        one is in a variable of the loop before, say) would otherwise have none of this one."""
        try:
            self._state = self._run.state()
        except RunError:
            return None  # of a stream
        self._end_run()
        self._start()
        return self._run.output(self._output_name)

    def _finished(self, reading):
        if self._reading is reading:
            self._reading = None
            self._epoch, self._given = reading.epoch + 1, 0

    # --- positions --------------------------------------------------------------------------------

    def state_dict(self):
        """Behind the last batch that was given, as torchdata has it: for load_state_dict() of a
        loader of the same graph, which goes on with exactly what was not given yet. Numbers and
        text, for pickle and for JSON."""
        self._check_open()
        if self._run is None:
            self._start()
        given, state = self._given, None
        if self._reading is not None:
            ahead = self._reading.passed if taken_ahead(self) else None
            read, state = ahead or (self._reading.given, self._reading.state)
            given += read
        return {"version": _STATE_VERSION, "epoch": self._epoch, "given": given,
                "state": (state or self._run.state()).decode(*_TEXT)}

    def load_state_dict(self, state):
        """The next iter() goes on there. What does not fit the graph is an error of that call."""
        self._check_open()
        if not (isinstance(state, dict) and state.get("version") == _STATE_VERSION and
                isinstance(state.get("epoch"), int) and
                isinstance(state.get("state"), (str, bytes))):
            raise ValueError("load_state_dict(): expected what state_dict() of a brigade.Loader "
                             f"gave, found {str(state)[:60]}")
        self._end_run()
        self._reading = None
        where, self._epoch = state["state"], state["epoch"]
        self._given, self._first = state.get("given", 0), 0
        self._state = where if isinstance(where, bytes) else where.encode(*_TEXT)

    # --- the rest ---------------------------------------------------------------------------------

    def plan(self):
        """What `brigade plan --json` prints."""
        if not self._counted:
            self._count()
        return self._plan

    def stats(self):
        """How far the run is that goes on, as Run.stats(); else what `brigade run --summary`
        writes, of the last one that has ended. Empty before the first."""
        if self._run is not None:
            return self._run.stats()
        return self._stats or {}

    def close(self):
        """Ends the run and its processes. Batches that are held stay as they are."""
        self._closed = True
        self._end_run()

    def _end_run(self):
        run, self._run = self._run, None
        if run is not None:
            run.close()
            self._stats = run.stats()

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
        facts = [("length", length), ("seed", self._plan["seed"]), ("epoch", self._epoch)]
        if shard["world"] > 1:
            facts.append(("rank", f"{shard['rank']} of {shard['world']}"))
        return facts + [("closed", "yes")] * self._closed


class _Reading:
    """How far an epoch has been read. Loader and iterator share it, and the iterator holds its
    loader: so none of them waits for the garbage collector."""

    __slots__ = ("epoch", "of_run", "given", "state", "watched", "passed")

    def __init__(self, epoch, of_run):
        self.epoch, self.of_run, self.given = epoch, of_run, 0
        self.state = None  # behind the last batch that was given, where others were read ahead
        self.watched, self.passed = False, None  # (given, state) of before, for Lightning


class _Epoch:
    """An iterator over an epoch."""

    __slots__ = ("_loader", "_output", "_reading", "_ahead")

    def __init__(self, loader, output, reading, ahead):
        self._loader, self._output, self._reading = loader, output, reading
        self._ahead = ahead  # None: batches stay where they are

    def __iter__(self):
        return self

    def __next__(self):
        if self._loader is None:
            raise StopIteration
        reading = self._reading
        if self._loader._reading is not reading:
            raise RuntimeError("this iterator is of an epoch that a later iter() has ended")
        if reading.watched:
            reading.passed = reading.given, self._loader._stands()
        batch = self._ahead.next(self._copied, reading) if self._ahead else self._lent()
        if batch is None:
            self._loader._finished(reading)
            self._loader = self._ahead = None
            raise StopIteration
        reading.given += 1
        return batch

    def _lent(self):
        reading = self._reading
        if 0 < reading.given < self._loader._hold and self._output.full():
            gc.collect()  # cycles may hold some
            if self._output.full():
                self._output = self._loader._leave_old_batches() or self._output
        return self._output._next(reading.of_run, 3)

    def _copied(self, waits):
        return self._output._next(self._reading.of_run, 5, 0 if waits else -1)
