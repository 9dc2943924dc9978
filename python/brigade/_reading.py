"""Reads an epoch of a Loader."""

import collections
import gc

from ._errors import RunError


def state_of(run, epoch=0):
    """The position of a run, or of the beginning of an epoch; None for a stream, which has no
    positions."""
    try:
        return run.state(epoch)
    except RunError:
        return None


class Mark:
    """The position of a run, noted for a state that is created only if a program asks for it."""

    __slots__ = ("_run", "_mark")

    def __init__(self, run):
        self._run, self._mark = run, run.mark()

    def state(self):
        return self._run.state_at_mark(self._mark)


class Reading:
    """How far an epoch has been read. Loader and iterator share it, and the iterator holds its
    loader: so none of them waits for the garbage collector.

    An exception may come between any two lines (Ctrl-C's, say). A batch that was taken of the run
    lies in `taken` before a line of Python runs, and is given with one store, of `now`."""

    __slots__ = ("epoch", "of_run", "begin", "skip", "now", "watched", "stood", "following",
                 "ahead", "is_plain")

    def __init__(self, at, begin):
        self.epoch, self.of_run, self.skip = at.epoch, at.epoch - at.first, at.skip
        self.begin = begin  # the state where it begins; None: of a stream
        self.now = 0, [], None, (), None  # see below
        self.watched, self.stood = False, None  # of Lightning: the position of before
        self.following = None  # the state where the next epoch begins, if its run has given none
        self.ahead = None  # of a device; None: batches stay where they are
        self.is_plain = False  # neither a device nor Lightning, and `hold` batches were read

    # `now` is (read, taken, before, ready, state): how many batches were read, `skip` of them not
    # given; the one of the C module that was taken and is not given yet, None at the end; for
    # Lightning (read, state) before the last one; (batch, state behind it) of those that are on a
    # device, and the state behind the last one of them that was given. These states are Marks.

    def again(self):
        """A copy for another iterator, before any batch was delivered."""
        made = object.__new__(Reading)
        for name in Reading.__slots__:
            setattr(made, name, getattr(self, name))
        return made

    def given(self):
        return max(self.now[0] - self.skip, 0)

    def is_over(self):
        taken = self.now[1]
        return bool(taken) and taken[0] is None

    def stands(self, is_ahead=False):
        """(batches delivered, skip, state); a state of None means the position of the run. A Mark
        stands for its state."""
        read, taken, before, ready, state = self.now
        if is_ahead and before is not None:
            return before
        given, skip = max(read - self.skip, 0), 0
        if state is None and (read < self.skip or ready or taken and taken[0] is not None):
            skip, state = max(read, self.skip), self.begin
        return given, skip, state


class Epoch:
    """An iterator over an epoch."""

    __slots__ = ("_loader", "_output", "_reading", "_at")

    def __init__(self, loader, reading):
        self._loader, self._output, self._reading = loader, loader._open_output(), reading
        self._at = None  # of the loader, when it was last looked at

    def __iter__(self):
        return self

    def __next__(self):
        loader, reading = self._loader, self._reading
        if loader is None:
            raise StopIteration
        if loader._at is not self._at:
            self._look()
        given = after = None
        try:
            if reading.is_plain:
                before = reading.now
                given = self._output._take(before[1], reading.of_run)
                after = before[0] + 1, [], None, (), None
            else:
                given, before, after = self._given()
            if given is not None:
                reading.now = after
                return given
        except BaseException:
            if given is not None and reading.now is after:
                reading.now = before  # it was not given
            raise
        loader._finished(reading)
        self._loader = None
        raise StopIteration

    def _look(self):
        """Called if the loader has another position."""
        loader, reading = self._loader, self._reading
        at = loader._at
        if at.reading is not reading and not reading.is_over():
            raise RuntimeError("a later iter() has ended the epoch of this iterator")
        if at.run is not self._output._run:
            self._output = loader._open_output()
        self._at = at if at is loader._at else None

    def _given(self):
        """A batch, or None at the end, with `now` before and after its delivery."""
        reading = self._reading
        if reading.watched or reading.now[0] < reading.skip:
            self._prepare()
        reading.is_plain = (not reading.watched and reading.ahead is None and
                            reading.now[0] + 1 >= self._loader._hold)
        return self._lent() if reading.ahead is None else reading.ahead.next(self)

    def _prepare(self):
        """Skips batches that a state lists as delivered; if Lightning reads, notes the position."""
        reading = self._reading
        while reading.now[0] < reading.skip and self.take() is not None:
            reading.now = reading.now[0] + 1, [], None, (), None
        if reading.watched and not reading.now[1]:
            given, skip, state = reading.stands()
            reading.stood = given, skip, state or state_of(self._loader._at.run)

    def _lent(self):
        reading = self._reading
        now = reading.now
        if not now[1] and 0 < now[0] < self._loader._hold and self._output.full():
            gc.collect()  # cycles may hold some
            if self._output.full():
                self._loader._leave_old_batches()
                self._output = self._loader._open_output()
        return self.take(), now, (now[0] + 1, [], reading.stood, (), None)

    def take(self, waits=True):
        """The batch that was taken but not delivered, otherwise the next one; None at the end."""
        reading = self._reading
        return self._output._take(reading.now[1], reading.of_run, 0 if waits else -1)


class Shown:
    """An iterator over an epoch, with a bar. The bar advances with the call after a batch, like a
    tqdm around the iterator, but an exception does not end it."""

    __slots__ = ("_epoch", "_bar", "_first")

    def __init__(self, epoch, bar, first):
        self._epoch, self._bar, self._first = epoch, bar, first

    def __iter__(self):
        return self

    def __next__(self):
        self._bar.update(self._first + self._epoch._reading.given() - self._bar.n)
        try:
            return self._epoch.__next__()
        except StopIteration:
            self._bar.close()  # it closes itself where an epoch is left early
            raise


class Ahead:
    """Batches of an epoch that are copied before the loop asks for them. They are stored in `now`
    of the Reading, so that each step is one store."""

    def __init__(self, device, prefetch, hold):
        self._device, self._prefetch, self._hold = device, prefetch, hold
        self._held = collections.deque()  # Uploads of batches that the graph may still wait for

    def next(self, iterator):
        """A batch, and `now` before and after it is given; None at the end."""
        reading = iterator._reading
        if not reading.now[3]:
            self._bring(iterator, True)
        while 0 < len(reading.now[3]) <= self._prefetch and self._bring(iterator, False):
            pass
        now = reading.now
        read, taken, _, ready, _ = now
        if not ready:
            return None, now, now
        batch, mark = ready[0]
        batch._raw.tensors  # noqa: B018: the stream that the loop uses waits from here on
        return batch, now, (read + 1, taken, reading.stood, ready[1:], mark)

    def _bring(self, iterator, waits):
        while len(self._held) >= self._hold:
            self._held[0].wait()
            self._held.popleft()
        try:
            batch = iterator.take(waits)
        except TimeoutError:
            return False
        if batch is None:
            return False
        reading = iterator._reading
        mark = None if reading.begin is None else Mark(iterator._output._run)
        sent = batch._sent(self._device)
        if sent is None:  # another thread has closed the loader since the batch was taken
            raise ValueError("the loader is closed")
        moved, upload = sent
        self._held.append(upload)
        read, _, before, ready, last = reading.now
        reading.now = read, [], before, (*ready, (moved, mark)), last
        return True
