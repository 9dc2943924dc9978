"""What a dataset has of multiprocessing, in workers of a brigade.DataLoader: queues, managers and
what is to be done at a process's end."""

import multiprocessing
import os
import sys
import tempfile
import time
import unittest
from multiprocessing import util
from unittest import mock

from brigade import _child
from data_loader_test import open_loader
from data_sets import Numbers


class Puts(Numbers):
    def __init__(self, queue):
        super().__init__(8)
        self.queue = queue

    def __getitem__(self, i):
        self.queue.put(i)
        return i


class Reads(Numbers):
    def __init__(self, things):
        super().__init__(len(things))
        self.things = things

    def __getitem__(self, i):
        return self.things[i]


class Leaves(Numbers):
    """A worker has something to do at its end."""

    def __init__(self, folder):
        super().__init__(4)
        self.folder = folder

    def __getitem__(self, i):
        util.Finalize(None, self.leave, exitpriority=1)
        return i

    def leave(self):
        time.sleep(0.1)
        with open(os.path.join(self.folder, str(os.getpid())), "w"):
            pass


def names(_):
    parent = multiprocessing.parent_process()
    return (multiprocessing.current_process().name, parent.name, parent.pid, parent.is_alive(),
            multiprocessing.active_children())


def read(dataset, **options):
    with open_loader(dataset, 2, num_workers=2, collate_fn=list, **options) as loader:
        return [value for batch in loader for value in batch]


class Uses(Numbers):
    """`use` of a thing, for each sample."""

    def __init__(self, thing, use):
        super().__init__(8)
        self.thing, self.use = thing, use

    def __getitem__(self, i):
        self.use(self.thing, i)
        return i


def add(shared, _):
    with shared.get_lock():
        shared.value += 1


def set_at(shared, i):
    shared[i] = i + 1


def under(lock, _):
    with lock:
        pass


class Multiprocessing(unittest.TestCase):
    def put(self):
        """What comes out of a queue that the program has used, too; its thread does not run in
        workers."""
        queue = multiprocessing.Queue()
        queue.put("first")
        self.assertEqual(queue.get(timeout=60), "first")
        self.assertEqual(read(Puts(queue)), list(range(8)))
        queue.put("last")
        return sorted(iter(lambda: queue.get(timeout=60), "last"))

    def test_all_that_workers_put_into_a_queue_comes(self):
        for _ in range(5):
            self.assertEqual(self.put(), list(range(8)))

    def test_control_a_worker_with_the_queue_of_the_program_as_it_is(self):
        with mock.patch.object(_child, "begin", lambda *_: None):
            self.assertEqual(self.put(), [])

    def test_a_manager_that_the_program_has_used(self):
        with multiprocessing.Manager() as manager:
            things = manager.list(range(0, 4000, 10))
            self.assertEqual(things[1], 10)  # by the connection of this thread
            self.assertEqual(read(Reads(things)), list(range(0, 4000, 10)))
            self.assertEqual(things[1], 10)

    def test_workers_of_the_server(self):
        """They have the same as processes that multiprocessing spawns."""
        def used(thing, use):
            read(Uses(thing, use), multiprocessing_context="spawn")
            return thing
        spawn = multiprocessing.get_context("spawn")
        self.assertEqual(used(spawn.Value("i", 3), add).value, 11)
        self.assertEqual(list(used(spawn.Array("i", range(8)), set_at)), list(range(1, 9)))
        used(spawn.Event(), lambda event, _: event.set()).wait(60)
        for lock in (spawn.Lock(), spawn.RLock(), spawn.BoundedSemaphore(2), spawn.Condition()):
            used(lock, under)
        reader, writer = spawn.Pipe(duplex=False)
        for thing, put, get in ((spawn.Queue(), "put", None), (spawn.SimpleQueue(), "put", None),
                                (writer, "send", reader.recv)):
            used(thing, lambda thing, i, put=put: getattr(thing, put)(i))
            get = get or thing.get
            self.assertEqual(sorted(get() for _ in range(8)), list(range(8)))
        with spawn.Manager() as manager:
            made = used(manager.dict(), lambda made, i: made.update({i: i}))
            self.assertEqual(made.copy(), {i: i for i in range(8)})

    def test_what_workers_of_the_server_cannot_have(self):
        for thing, why in ((multiprocessing.get_context("fork").Lock(), "get_context\\('spawn'\\)"),
                           (multiprocessing.Pipe()[0], "duplex=False")):
            with self.assertRaisesRegex(TypeError, f"dataset.thing.*{why}"):
                read(Uses(thing, under), multiprocessing_context="spawn")

    def left(self):
        with tempfile.TemporaryDirectory() as folder:
            read(Leaves(folder), worker_init_fn=int)  # each makes a batch
            return len(os.listdir(folder))

    def test_workers_do_what_they_have_to_do_at_the_end(self):
        self.assertEqual(self.left(), 2)

    def test_control_workers_that_are_killed_at_once(self):
        with mock.patch.object(_child, "must_end", lambda: False):
            self.assertEqual(self.left(), 0)

    def test_a_process_of_multiprocessing(self):
        child = multiprocessing.Process(target=time.sleep, args=(60,), daemon=True)
        child.start()
        with open_loader(Numbers(2), 1, num_workers=2, collate_fn=names) as loader:
            named = list(loader)
        self.assertLessEqual({name for name, *_ in named},
                             {"brigade: DataLoader.0", "brigade: DataLoader.1"})
        self.assertEqual(named[0][1:], ("MainProcess", os.getpid(), True, []))
        self.assertTrue(child.is_alive())
        child.kill()
        child.join()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
