"""A running graph and its outputs."""

import atexit
import gc
import json
import weakref
from itertools import starmap

from . import _brigade, _graph
from ._batch import Batch, kind_of_tensors
from ._device import Ways
from ._errors import Error, HeldError, RunError, whole
from ._input import Input
from ._log import EventLog
from ._place import place_of_caller
from ._ranks import Ranks

_open_runs = weakref.WeakSet()
ANY_EPOCH = -1


@atexit.register
def _close_all():
    """Workers end with the interpreter, also where threads still read."""
    for run in list(_open_runs):
        run.close()


class Run:
    """One run with several outputs, from `brigade.open()`.

    >>> import brigade
    >>> with brigade.open(brigade.examples.NUMBERS, epochs=1, tensors="numpy") as run:
    ...     [batch.size for batch in run["train"]]
    [4, 4, 4]
    """

    _run = _closing = _summary = None

    def __init__(self, graph, kind, in_process=False, log=None, forker=0, on_event=None):
        self._kind = kind
        self._outputs = {}  # of the C module, by name: an Output holds its run, which holds none
        self._log = log or EventLog(on_event)
        run = None
        try:
            run = graph.start(_graph.app(), _brigade.BRIGADE_IN_PROCESS if in_process else 0,
                              self._log.events, forker)
            self._log.begin()
            self._ways = Ways(run)
            self._run = run  # from here on close() ends it
        except BaseException:
            self._run = None
            if run is not None:
                run.close()
            self._log.close()
            raise
        _open_runs.add(self)

    def output(self, name):
        """The output `name`: every call returns a handle to the same one."""
        if name not in self._outputs:
            self._outputs[name] = self._open().output(name), []
        return Output(self, *self._outputs[name], self._kind)

    __getitem__ = output

    def input(self, name):
        """The input `name`, a `producer: application`: every call returns a handle to the
        same one. close() or releasing the last handle closes it."""
        return Input(self._open().input(name), self._kind)

    def shared(self, name):
        """The whole SharedTensor `name` of `shared:`; with `own_part`, read-only."""
        return self._open().shared(name)

    def _open(self):
        if self._run is None:
            raise ValueError("the run is closed")
        return self._run

    def wait(self):
        """Waits until every stage has ended; raises RunError with the reason if the run failed."""
        self._open().wait()

    def stop(self):
        """Stops the sources and drains the pipeline; a second call ends the run at once."""
        self._open().stop()

    def state(self, epoch=0):
        """The positions of the outputs, or the beginning of a later epoch, without the rest of
        earlier ones: bytes for `brigade.open(..., state=)`. A RunError if an exception interrupted
        next() after it took a batch: call that next() again first."""
        run = self._open()
        if epoch == 0:
            self._check_given()
        return run.state(epoch)

    def mark(self):
        """The positions of the outputs in a few bytes, for programs that read ahead of their loop:
        state_at_mark() turns them into a state later, while the run is open."""
        run = self._open()
        self._check_given()
        return run.mark()

    def state_at_mark(self, mark):
        """The state at the time of mark()."""
        return self._open().state_at_mark(mark)

    def _check_given(self):
        for name, (_, taken) in self._outputs.items():
            if taken and taken[0] is not None:
                raise RunError(f"state(): an exception interrupted next() of {name}, and a state "
                               "would omit its batch; call next() again first")

    def stats(self):
        """Its progress: `samples`, and for each of the `stages` the seconds that its replicas were
        `busy` or waited (`wait_in` for samples, `wait_out` for room). After the run was closed,
        its summary, as `brigade run --summary` writes it."""
        run = self._run  # close() may come from another thread
        said = self._summary if run is None else run.stats()
        return json.loads(said) if said else {}

    def close(self):
        """Ends the run at once. Held batches stay valid."""
        # What an exception interrupts here, the next close() does.
        run = self._closing = self._closing or self._run
        if run is None:
            return
        self._run = None
        _open_runs.discard(self)
        for output, _ in self._outputs.values():
            output.close()
        self._ways.close()
        try:
            run.stop()  # the second one ends it at once
            run.stop()
            self._summary = run.summary()
        except (Error, ValueError):
            pass  # in a forked child; it is closed
        run.close()
        self._log.close()
        self._closing = None

    def __del__(self):  # dropped without close(): its processes go at once, too
        self.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        try:
            if kind is None and self._run is not None and self._all_ended():
                self.wait()
        finally:
            self.close()

    def _all_ended(self):
        return all(output.ended() for output, _ in self._outputs.values())

    def _raise_if_failed(self):
        """At the end of an output. A failure ends all of them; wait() says it."""
        run = self._run  # close() may come from another thread
        if run is not None and self._all_ended():
            run.wait()


class Output:
    """A `consumer: application` of a run. Iterating reads all remaining epochs."""

    def __init__(self, run, output, taken, kind):
        self._run, self._output, self._kind = run, output, kind
        self._taken = taken  # the batch of the C module that an interrupted call has not given

    def next(self, epoch=ANY_EPOCH):
        """The next batch; None at the end, or at the end of epoch `epoch` if that is set. If an
        exception interrupts a call, the next call gives the batch."""
        batch = self._next(epoch, 2)
        return None if batch is None else self._given(batch)

    def _next(self, epoch, depth):
        """It stays in the list until it is _given()."""
        taken = self._taken
        if taken == [None]:
            taken.clear()  # the end of an epoch, perhaps
        if taken and ANY_EPOCH < epoch < taken[0].describe()[1]:
            return None
        return self._take(taken, epoch, 0, depth + 1)

    def _given(self, batch):
        """For the caller's caller: the statement that calls this returns it."""
        try:
            self._taken.clear()
            return batch
        except BaseException:
            self._taken[:] = [batch._raw]
            raise

    def _take(self, taken, epoch, seconds=0, depth=2):
        """The batch in the list `taken`. An empty one gets the next before a line of Python runs,
        so that no exception can come between: its batch of the C module, or None at the end."""
        if not taken:
            asked = epoch, *place_of_caller(depth + 1), seconds
            try:
                taken.extend(starmap(self._output.next, (asked,)))
            except HeldError as error:
                gc.collect()  # cycles may hold some
                if self._output.full():
                    raise error.with_traceback(None) from None
                taken.extend(starmap(self._output.next, (asked,)))
        raw = taken[0]
        if raw is not None:
            return Batch(raw, self._kind, self._run._ways)
        if self._output.ended():
            self._run._raise_if_failed()
        return None

    def epoch(self, epoch):
        """Iterates over the rest of that epoch."""
        return Epoch(self, epoch)

    def __iter__(self):
        return Epoch(self, ANY_EPOCH)

    def full(self):
        """True if the program holds as many batches as `hold:` allows, so the next call waits."""
        return self._output.full()

    def ended(self):
        """True if no more batches follow."""
        return self._taken in ([], [None]) and self._output.ended()

    def close(self):
        """Closes the output; unread batches are dropped."""
        self._taken.clear()
        self._output.close()


class Epoch:
    """An iterator."""

    __slots__ = ("_output", "_epoch")

    def __init__(self, output, epoch):
        self._output, self._epoch = output, epoch

    def __iter__(self):
        return self

    def __next__(self):
        output = self._output
        batch = output._next(self._epoch, 2)
        if batch is None:
            raise StopIteration
        return output._given(batch)


def open(graph, *, set=None, epochs=None, state=None, limit=0,  # noqa: A001, A002
         tensors=None, in_process=False, rank=None, world_size=None, on_event=None):
    """Starts a graph with several outputs: a `Run`. Options are `Loader`'s; `epochs` is the graph's
    own by default, `state` is the result of Run.state()."""
    made = _graph.read(graph, set)
    if epochs is not None:
        made.set(f"epochs={whole('epochs', epochs, 1)}")
    if state is not None:
        made.set_state(state)
    made.limit(whole("limit", limit, 0))
    ranks = Ranks(rank, world_size)
    ranks.tell(made)
    run = Run(made, kind_of_tensors(tensors), in_process, on_event=on_event)
    ranks.say(json.loads(made.plan(_graph.app())))
    return run
