"""Programs that feed a graph."""

import gc
import os
import pathlib
import sys
import threading
import unittest

import brigade
from graphs import SAMPLES as COUNT, NeedsNumPy


def graph(size=4, batch=8, chunk=None, **keys):
    tensors = {"x": {"dtype": "f32", "shape": [size]}, "text": {"dtype": "u8", "shape": ["<=100"]}}
    made = {"epochs": 1, "stages": {
        "tasks": {"producer": "application", "tensors": tensors, **keys},
        "work": {"transform": "passthrough", "from": "tasks", "replicas": 2, "batch": batch},
        "results": {"consumer": "application", "from": {"stage": "work", "max_wait": "5ms"}}}}
    if chunk:
        made["stages"]["tasks"]["chunk"] = chunk
    return made


def start(*arguments, **options):
    return brigade.open(graph(*arguments, **options), tensors="dlpack")


def write(slot, i):
    memoryview(slot["x"]).cast("B").cast("f")[:] = memoryview(bytes(16)).cast("f")
    slot["x"][0] = i
    slot["text"] = b"%d" % i


def given(run):
    return [(memoryview(batch.row(i)["x"])[0], bytes(batch.row(i)["text"]))
            for batch in run["results"] for i in range(batch.size)]


class Feeding(unittest.TestCase):
    def feed(self, tasks, count=COUNT):
        for i in range(count):
            slot = tasks.acquire()
            if slot is None:
                return
            write(slot, i)
            slot.submit()
        tasks.close()

    def test_what_is_given_comes_back_in_its_order(self):
        with start() as run:
            early = run.stats()
            self.assertEqual((early["seconds"], early["first_sample_seconds"]), (0, None))
            thread = threading.Thread(target=self.feed, args=(run.input("tasks"),))
            thread.start()
            self.assertEqual(given(run), [(i, b"%d" % i) for i in range(COUNT)])
            thread.join()

    def test_a_slot_is_one_sample(self):
        with start(batch=1) as run, run.input("tasks") as tasks:
            with tasks.acquire() as slot:
                write(slot, 0)
                self.assertEqual((slot.keys(), slot.index, slot.epoch), (("x", "text"), 0, 0))
            with self.assertRaisesRegex(ValueError, "was already submitted or dropped"):
                slot["x"]
            with self.assertRaisesRegex(ValueError, "was already submitted or dropped"):
                slot.submit()
            tasks.acquire().drop()
            tasks.acquire()  # gone without submit()
            try:
                with tasks.acquire() as slot:
                    1 / 0
            except ZeroDivisionError:
                pass
            with tasks.acquire() as slot:
                write(slot, 4)
            tasks.close()
            self.assertEqual([text for _, text in given(run)], [b"0", b"4"])

    def test_no_array_of_it_is_left_behind(self):
        with start(batch=1) as run:
            tasks = run.input("tasks")
            slot = tasks.acquire()
            write(slot, 3)
            kept = slot["x"]
            for settle in (slot.submit, slot.drop):
                with self.assertRaisesRegex(BufferError, "1 array of this slot is still in use"):
                    settle()
            del kept
            slot.submit()
            tasks.close()
            self.assertEqual(given(run), [(3, b"3")])

    def test_what_does_not_fit_is_refused(self):
        with start(batch=1) as run:
            slot = run.input("tasks").acquire()
            with self.assertRaisesRegex(KeyError, 'the slot has no tensor \\\\?"y\\\\?": '
                                                  "its tensors are x and text"):
                slot["y"]
            with self.assertRaises(ValueError):
                slot["text"] = bytes(101)
            with self.assertRaisesRegex(ValueError, "has shape"):
                slot["x"] = _floats(3)
            slot.resize("text", (100,))
            self.assertEqual(memoryview(slot["text"]).nbytes, 100)
            with self.assertRaises(ValueError):
                run.input("no such")

    def test_waits_for_room_as_long_as_it_is_told(self):
        with start(batch=1) as run:
            tasks = run.input("tasks")
            while (slot := tasks.acquire(timeout=0.2)) is not None:
                slot.submit()
            self.assertFalse(tasks.ended())
            self.assertIsNone(tasks.acquire(timeout=0))
            with self.assertRaisesRegex(brigade.UnreadError, "read that output between writes"):
                tasks.acquire()
            with self.assertRaisesRegex(ValueError, "timeout=-1"):
                tasks.acquire(timeout=-1)
            run.stop()
            self.assertIsNone(tasks.acquire())
            self.assertTrue(tasks.ended())

    def test_slots_of_a_task_that_are_held(self):
        with start(batch=1) as run:
            tasks = run.input("tasks")
            held = tasks.acquire()
            with self.assertRaisesRegex(brigade.HeldError, "input_test.py:"):
                tasks.acquire()
            held.submit()
            self.assertIsNotNone(tasks.acquire())

    def test_epochs(self):
        made = graph(batch=4)
        made["epochs"] = 2
        with brigade.open(made, tensors="dlpack") as run:
            tasks = run.input("tasks")
            for count in (3, 5):
                for i in range(count):
                    with tasks.acquire() as slot:
                        write(slot, i)
                tasks.end_epoch()
            with self.assertRaises(ValueError):
                tasks.acquire()
            self.assertEqual([(batch.epoch, batch.size) for batch in run["results"]],
                             [(0, 3), (1, 4), (1, 1)])

    def test_outlives_nothing(self):
        run = start(batch=1)
        tasks = run.input("tasks")
        slot = tasks.acquire()
        array = slot["x"]
        run.close()
        array[0] = 1  # its memory is there as long as the slot
        with self.assertRaises((brigade.Error, ValueError)):
            del array
            slot.submit()
        self.assertIsNone(tasks.acquire())
        tasks.close()
        with self.assertRaisesRegex(ValueError, "the input is closed"):
            tasks.acquire()
        with self.assertRaisesRegex(ValueError, "the run is closed"):
            run.input("tasks")

    def test_a_forked_child_gives_nothing(self):
        with start(batch=1) as run:
            tasks = run.input("tasks")
            slot = tasks.acquire()
            write(slot, 0)
            pid = os.fork()
            if pid == 0:
                status = 1
                try:
                    slot.submit()
                except brigade.Error:
                    status = 0
                finally:
                    os._exit(status)
            self.assertEqual(os.waitpid(pid, 0)[1], 0)
            slot.submit()
            tasks.close()
            self.assertEqual(len(given(run)), 1)

    def test_nothing_is_left(self):
        def once():
            with start() as run:
                tasks = run.input("tasks")
                held = tasks.acquire()
                write(held, 0)
                return held

        def figures():
            gc.collect()
            maps = pathlib.Path("/proc/self/maps").read_text()
            return len(os.listdir("/proc/self/fd")), maps.count("brigade-")

        once()
        before = figures()
        for _ in range(5):
            once()
        self.assertEqual(figures(), before)


class NumPy(NeedsNumPy):
    def test_arrays_are_the_slot(self):
        with brigade.open(graph(batch=1), tensors="numpy") as run:
            tasks = run.input("tasks")
            slot = tasks.acquire()
            slot["x"][:] = [1, 2, 3, 4]
            slot["text"] = self.numpy.arange(5)
            slot.submit()
            tasks.close()
            (batch,) = run["results"]
            self.assertEqual(batch["x"].tolist(), [[1, 2, 3, 4]])
            self.assertEqual(batch["text"][0].tolist(), [0, 1, 2, 3, 4])

    def test_tensors_of_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed (python3-torch)")
        made = graph(batch=1)
        made["stages"]["tasks"]["tensors"] = {"x": {"dtype": "bf16", "shape": [3]},
                                              "y": {"dtype": "i64", "shape": []}}
        with brigade.open(made, tensors="torch") as run:
            tasks = run.input("tasks")
            with tasks.acquire() as slot:
                slot["x"].fill_(1.5)
                slot["y"] = torch.tensor(7)
            tasks.close()
            (batch,) = run["results"]
            self.assertEqual(batch["x"].tolist(), [[1.5] * 3])
            self.assertEqual(batch["y"].tolist(), [7])


def _floats(count):
    try:
        import numpy
        return numpy.zeros(count, "f")
    except ImportError:
        return memoryview(bytes(4 * count)).cast("f")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
