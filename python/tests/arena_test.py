"""Where batches of a DataLoader lie: in every order in which a worker, the program and children of
the program keep parts of batches and give them up, each sees what it had, and no block is lost.

The classes are those of the package. A worker and the program are one process here; children are
real ones, and in worker processes data_loader_kept_test.py has the same cases."""

import itertools
import os
import unittest
from unittest import mock

from brigade import _arena, _brigade

SIZE = 5000  # bytes of a batch, which is more than a page
MESSAGE = b"task"


class Old(_arena.Room):
    """A room whose block is written again while the worker has a part of it."""

    def close(self):
        pass


class Blind:
    """The C module without its knowledge of children."""

    def __getattr__(self, name):
        return getattr(_brigade, name)

    def has_children(self, since, until):
        return False


class NoSnapshots(Blind):
    """Without the copies that a worker's children get."""

    has_children = staticmethod(_brigade.has_children)

    def Mapping(self, *where, snapshot=False):  # noqa: N802
        return _brigade.Mapping(*where)


class Wrong(Exception):
    pass


class World:
    """`make WK`: a batch is made. W is 1 if the worker keeps it and 2 if it keeps a part; K is the
    same for the program, and 3 if that gives the batch back unread. `die`: the worker ends while
    it makes a batch, which its successor makes again. `fork inside`: the worker forks while it
    makes a batch, and keeps that. The other actions drop a kept batch, fork, or end a child."""

    MAKES = [f"make {worker}{program}" for worker in range(3) for program in range(4)]
    GIVE_UP = ["worker first", "worker last", "program first", "program last"]

    def __init__(self, room):
        self._room, self._arena = room, _arena.Arena(warm=1)
        self._blocks = _arena.Blocks(self._arena._file)
        self._kept = {"worker": [], "program": []}  # (view, the byte it is full of)
        self._children, self._stamps = [], itertools.cycle(range(1, 100))
        self._used_max = 0

    def step(self, action):
        """False: there is nothing that it could do."""
        kind, _, what = action.partition(" ")
        if kind == "make":
            self._make(int(what[0]), int(what[1]))
        elif action == "die":
            self._make(1, 1, deaths=1)
        elif action == "fork":
            self._fork()
        elif action == "fork inside":
            self._make(1, 1, fork=True)
        elif action == "end":
            if not self._children:
                return False
            self._end(self._children.pop(0))
        else:
            kept = self._kept[kind]
            if not kept or (what == "last" and len(kept) == 1):
                return False
            kept.pop(0 if what == "first" else -1)
        self.check()
        return True

    def _make(self, worker, program, deaths=0, fork=False):
        block, offset = self._arena.take(MESSAGE)
        for _ in range(deaths):
            self._in_worker(offset, 1)
            self._kept["worker"].clear()
            self._blocks = _arena.Blocks(self._arena._file)
        stamp = next(self._stamps)
        at, end = self._in_worker(offset, worker, stamp, fork)
        self._in_program(block, at, end, program, stamp)
        self._used_max = max(self._used_max, len(self._arena._maps))

    def _in_worker(self, offset, keeps, stamp=100, fork=False):
        room = self._room(self._blocks, offset, _arena.TASK_AT + len(MESSAGE))
        made = memoryview(room.lend(SIZE))
        made[:] = bytes([stamp]) * SIZE
        at = room.position_of(_address(made), SIZE)
        room.write(b"table")
        if keeps:
            self._kept["worker"].append((made[100:200] if keeps == 2 else made, stamp))
        del made
        if fork:
            self._fork()
        room.close()
        return at, room.at

    def _in_program(self, block, at, end, keeps, stamp):
        if keeps == 3:
            self._arena.free(block, end)
            return
        view = memoryview(self._arena.lease(block, end))[at:at + SIZE]
        if view != bytes([stamp]) * SIZE:
            raise Wrong("the batch is another one")
        view[:] = bytes([stamp + 100]) * SIZE  # in place, as a program may
        if keeps:
            self._kept["program"].append((view[100:200] if keeps == 2 else view, stamp + 100))

    def check(self):
        for view, stamp in itertools.chain(*self._kept.values()):
            if view != bytes([stamp]) * len(view):
                raise Wrong(f"found {set(view)}, expected {stamp}")

    def _fork(self):
        ask, told = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            self._be_child(ask, told)
        os.close(ask[0])
        os.close(told[1])
        self._children.append((pid, ask[1], told[0]))

    def _be_child(self, ask, told):
        """Looks at what it has when it is asked to, and writes there."""
        try:
            os.close(ask[1])
            os.read(ask[0], 1)
            try:
                self.check()
                said = b"right"
            except Wrong:
                said = b"wrong"
            for view, _ in itertools.chain(*self._kept.values()):
                view[:] = b"\0" * len(view)
            os.write(told[1], said)
        finally:
            os._exit(0)

    def _end(self, child):
        pid, ask, told = child
        os.write(ask, b"1")
        os.close(ask)
        said = os.read(told, 5)
        os.close(told)
        os.waitpid(pid, 0)
        if said != b"right":
            raise Wrong("in a child")

    def end(self):
        """All is given up: as many batches as there were at once find room."""
        try:
            while self._children:
                self._end(self._children.pop())
            self.check()
        finally:
            while self._children:
                try:
                    self._end(self._children.pop())
                except Wrong:
                    pass
        for kept in self._kept.values():
            kept.clear()
        blocks = {self._arena.take(MESSAGE)[0] for _ in range(self._used_max)}
        if len(self._arena._maps) > self._used_max or len(blocks) < self._used_max:
            raise Wrong("a block is lost")


def _address(view):
    import ctypes
    return ctypes.addressof(ctypes.c_char.from_buffer(view))


def tried(actions, length, room=_arena.Room, forks=0):
    """How many sequences of actions there are, and a list of those that went wrong."""
    count, wrong = 0, []
    for length in range(1, length + 1):
        for sequence in itertools.product(actions, repeat=length):
            if not sequence[0].startswith(("make", "die", "fork inside")) or \
                    sum(action.startswith("fork") for action in sequence) != forks:
                continue
            world = World(room)
            try:
                done = all(world.step(action) for action in sequence)
                world.end()
                count += done
            except Wrong as error:
                wrong.append((sequence, str(error)))
                try:
                    world.end()
                except Wrong:
                    pass
    return count, wrong


class Orders(unittest.TestCase):
    ALL = [*World.MAKES, "die", *World.GIVE_UP]
    FEW = ["make 11", "make 22", "make 03", "worker first", "program first", "program last"]
    FORKED = ["make 11", "make 02", "make 20", "fork", "fork inside", "end", "worker first",
              "program first"]

    def test_of_a_worker_and_the_program(self):
        for actions, length in ((self.ALL, 3), (self.FEW, 5)):
            count, wrong = tried(actions, length)
            self.assertEqual(wrong, [])
            self.assertGreater(count, 1000)

    def test_of_batches_that_are_copied(self):
        with mock.patch.object(_arena, "_MAPPINGS_MAX", 0):
            count, wrong = tried(self.FEW, 4)
        self.assertEqual(wrong, [])
        self.assertGreater(count, 200)

    def test_the_old_rule_is_caught(self):
        _, wrong = tried(self.ALL, 2, room=Old)
        self.assertTrue(wrong)

    def test_of_children(self):
        for length, forks in ((4, 1), (4, 2)):
            count, wrong = tried(self.FORKED, length, forks=forks)
            self.assertEqual(wrong, [])
            self.assertGreater(count, 100)

    def test_a_block_that_a_child_reads_is_caught(self):
        for length, broken in ((4, Blind()), (3, NoSnapshots())):
            _arena._brigade = broken
            try:
                _, wrong = tried(self.FORKED, length, forks=1)
            finally:
                _arena._brigade = _brigade
            self.assertIn("in a child", {error for _, error in wrong})


if __name__ == "__main__":
    unittest.main(argv=["arena_test.py"])
