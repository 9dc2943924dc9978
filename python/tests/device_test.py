"""Batches on a device: that of threads, which copies late and notices what came back too early; and
a GPU's as far as it goes without one, with a driver and a torch.cuda that stand for it."""

import contextlib
import gc
import os
import pathlib
import subprocess
import sys
import time
import types
import unittest
from unittest import mock

import brigade
from graphs import EPOCH, SAMPLES, graph

try:
    import torch
except ImportError:
    print("skipped: torch is not installed (python3-torch)")
    sys.exit(77)

BUILD = pathlib.Path(sys.argv[1]).resolve()
LATE = "delay_us=3000"


@contextlib.contextmanager
def device_is(options, poison="1"):
    with mock.patch.dict(os.environ, BRIGADE_HOST_DEVICE=options, BRIGADE_POISON=poison):
        yield


def seen(batch):
    return batch.epoch, batch.index, batch.ids, batch["data"].tolist()


def plain(epochs=1, of=None):
    with brigade.Loader(of or graph(), tensors="torch") as loader:
        return [[seen(batch) for batch in loader] for _ in range(epochs)]


class Loaders(unittest.TestCase):
    def test_batches_are_what_they_are_without_a_device(self):
        expected = plain(2)
        for prefetch in (0, 1, 2, 9):
            for hold in (None, 1):
                with self.subTest(prefetch=prefetch, hold=hold), device_is(LATE), \
                        brigade.Loader(graph(), device="host", prefetch=prefetch,
                                       hold=hold) as loader:
                    found = [[seen(batch) for batch in loader] for _ in range(2)]
                    self.assertEqual(found, expected)

    def test_they_hold_nothing_of_the_graph(self):
        with device_is(LATE), brigade.Loader(graph(), device="host", hold=2) as loader:
            batches = [batch for _ in range(2) for batch in loader]
            run = loader._at.run
            self.assertEqual(len(batches), 2 * len(EPOCH))
        self.assertIsNone(run._run)
        self.assertEqual([seen(batch) for batch in batches], sum(plain(2), []))

    def test_closed_by_another_thread_while_a_batch_is_on_its_way(self):
        with brigade.Loader(graph(), device="host") as loader, \
                mock.patch("brigade._device.Ways.to", return_value=None):  # as once it is closed
            with self.assertRaisesRegex(ValueError, "the loader is closed"):
                next(iter(loader))

    def test_control_a_batch_released_at_once_is_noticed(self):
        with device_is(LATE + " early"), brigade.Loader(graph(), device="host") as loader:
            kept = []
            with self.assertRaisesRegex(brigade.DeviceError, "returned before the event"):
                for _ in range(100):
                    for batch in loader:
                        kept.append(batch)
                        time.sleep(0.001)

    def test_control_what_it_would_have_learned_from(self):
        expected = plain()[0]
        with device_is("delay_us=30000 early checks=0"), \
                brigade.Loader(graph(), device="host") as loader:
            kept = [batch for batch in loader]  # their memory is written until the loader ends
        del loader
        gc.collect()
        self.assertEqual([batch.ids for batch in kept], [one[2] for one in expected])
        self.assertNotEqual([seen(batch) for batch in kept], expected)

    def test_ragged_tensors_arrive_as_lists(self):
        ragged = graph(numbers={"params": {"count": 100, "shape": [5], "vary": True}})
        with brigade.Loader(ragged, tensors="torch") as loader:
            expected = [[one.tolist() for one in batch["data"]] for batch in loader]
        with device_is(LATE), brigade.Loader(ragged, device="host") as loader:
            found = [[one.tolist() for one in batch["data"]] for batch in loader]
        self.assertEqual(found, expected)

    def test_a_state_is_behind_the_last_batch_that_was_given(self):
        whole = plain(2)
        for many in (1, 5, len(EPOCH), len(EPOCH) + 3):
            with device_is(LATE), brigade.Loader(graph(), device="host", prefetch=3) as loader:
                given = []
                for _ in range(2):
                    for batch in loader:
                        given.append(seen(batch))
                        if len(given) == many:
                            break
                    if len(given) == many:
                        break
                state = loader.state_dict()
            with device_is(LATE), brigade.Loader(graph(), device="host") as loader:
                loader.load_state_dict(state)
                for _ in range(state["epoch"], 2):
                    given += [seen(batch) for batch in loader]
            self.assertEqual(given, sum(whole, []), many)

    def test_a_state_is_made_only_when_it_is_asked_for(self):
        made = []

        def counting(name):
            method = getattr(brigade.Run, name)
            return mock.patch.object(brigade.Run, name,
                                     lambda *given: made.append(name) or method(*given))
        with device_is(LATE), counting("state"), counting("state_at_mark"), \
                brigade.Loader(graph(), device="host") as loader:
            loader.state_dict()
            made.clear()
            self.assertEqual(sum(1 for _ in loader), len(EPOCH))
            self.assertEqual(made, ["state"])  # where the epoch begins
            next(iter(loader))
            made.clear()
            loader.state_dict()
            self.assertEqual(made, ["state_at_mark"])

    def test_closed_while_batches_are_on_their_way(self):
        with device_is(LATE):
            loader = brigade.Loader(graph(), device="host", prefetch=2)
            iterator = iter(loader)
            next(iterator)
            loader.close()
            for call in (lambda: list(iterator), loader.state_dict, lambda: iter(loader)):
                with self.assertRaisesRegex(ValueError, "closed"):
                    call()

    def test_an_epoch_left_early_ends_there(self):
        whole = plain(2)
        with device_is(LATE), brigade.Loader(graph(), device="host") as loader:
            self.assertEqual(seen(next(iter(loader))), whole[0][0])
            self.assertEqual([seen(batch) for batch in loader], whole[1])

    def test_what_is_not_there_yet_is_not_waited_for(self):
        slow = graph(work={"replicas": 1, "batch": 1, "params": {"ms": 300}},
                     numbers={"params": {"count": 4, "shape": [1]}})
        with device_is(""), brigade.Loader(slow, device="host", prefetch=3) as loader:
            loader.state_dict()  # starts it
            iterator = iter(loader)
            next(iterator)
            self.assertLess(len(iterator._reading.now[3]), 3)
            self.assertEqual(1 + sum(1 for _ in iterator), 4)


class Batches(unittest.TestCase):
    def test_a_copy_that_is_waited_for_late(self):
        expected = plain()[0]
        for non_blocking in (False, True):
            with self.subTest(non_blocking=non_blocking), device_is(LATE), \
                    brigade.Loader(graph(), tensors="torch") as loader:
                moved = [batch.to("host", non_blocking=non_blocking) for batch in loader]
                self.assertEqual([seen(batch) for batch in moved], expected)
                self.assertEqual(seen(moved[0].to("host")), expected[0])

    def test_go_after_the_end_of_the_run(self):
        expected = plain()[0][0]
        for sent_before in (False, True):
            with device_is(LATE), brigade.Loader(graph(), tensors="torch") as loader:
                batch = next(iter(loader))
                if sent_before:
                    self.assertEqual(seen(batch.to("host")), expected)
            self.assertEqual(seen(batch.to("host", non_blocking=True)), expected)

    def test_to_the_cpu_as_torch_has_it(self):
        with brigade.Loader(graph(), tensors="torch") as loader:
            for device in ("cpu", torch.device("cpu")):
                moved = next(iter(loader)).to(device, non_blocking=True)
                self.assertEqual(moved["data"].device.type, "cpu")

    def test_each_run_is_pinned_once_and_says_so(self):
        with device_is("pinned=0"), self.assertLogs("brigade", "WARNING") as caught, \
                brigade.Loader(graph(), device="host") as loader:
            self.assertEqual(sum(batch.size for batch in loader), SAMPLES)
        self.assertEqual(len(caught.output), 1)
        self.assertRegex(caught.output[0], "copies from pageable memory, which is slower: .*"
                         " limit is 0 B")
        with device_is(""), self.assertLogs("brigade", "INFO") as caught, \
                brigade.Loader(graph(), device="host") as loader:
            list(loader)
        self.assertEqual(len([one for one in caught.output if "pinned" in one]), 1)


class Mistakes(unittest.TestCase):
    def refused(self, kind, pattern, **options):
        with self.assertRaisesRegex(kind, pattern) as caught:
            brigade.Loader(graph(), **options)
        self.assertNotIn("\n", str(caught.exception))

    def test_devices_that_cannot_be_had(self):
        self.refused(ValueError, "device='mps': expected cuda, cuda:N, host, or cpu", device="mps")
        self.refused(ValueError, "device='gpu': expected cuda", device="gpu")
        self.refused(TypeError, "found tensors='numpy'", device="host", tensors="numpy")
        self.refused(ValueError, "prefetch=2 needs device=", prefetch=2)
        self.refused(ValueError, "prefetch=-1: expected a whole number from 0", device="host",
                     prefetch=-1)
        with mock.patch.object(torch.version, "cuda", None):
            self.refused(brigade.DeviceError, "cuda:3: this torch, .*, was built without CUDA",
                         device="cuda:3")
        with mock.patch.dict(sys.modules, {"torch": None}):
            self.refused(brigade.DeviceError, "torch, which cannot be imported", device="cuda")
        brigade.Loader(graph(), device="cpu").close()

    def test_a_gpu_that_is_not_there(self):
        def no_driver():
            raise RuntimeError("Found no NVIDIA driver on your system.\nPlease check")
        with mock.patch.object(torch.version, "cuda", "13.0"):
            with mock.patch.object(torch.cuda, "init", no_driver):
                self.refused(brigade.DeviceError, "device cuda: Found no NVIDIA driver on your",
                             device="cuda")
            with mock.patch.multiple(torch.cuda, init=lambda: None, device_count=lambda: 1):
                self.refused(brigade.DeviceError, "cuda:2: there is 1 GPU, cuda:0", device="cuda:2")

    def test_a_device_that_is_lost_while_it_copies(self):
        with device_is(LATE + " fail_copy=5"), brigade.Loader(graph(), device="host") as loader:
            with self.assertRaisesRegex(brigade.DeviceError, "is lost: a copy failed midway"):
                for _ in loader:
                    pass
            with self.assertRaises(brigade.DeviceError):
                list(loader)

    def test_arrays_of_numpy_go_nowhere(self):
        with brigade.Loader(graph(), tensors="dlpack") as loader:
            with self.assertRaisesRegex(TypeError, "expected torch tensors, found dlpack; import"):
                next(iter(loader)).to("cuda")


class Cuda(unittest.TestCase):
    """All but the GPU: a driver that copies when it is asked, memory of the CPU in its place."""

    def test_batches_go_through_the_driver(self):
        driver = BUILD / "tests" / "fake_cuda"
        if not (driver / "libcuda.so.1").exists():
            self.skipTest("the driver of the tests was not built (ninja fake_cuda)")
        done = subprocess.run(
            [sys.executable, "-B", __file__, str(BUILD), "--with-driver"], text=True, timeout=120,
            capture_output=True, env={**os.environ, "LD_LIBRARY_PATH": str(driver)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "whole\n")


def memory_of_the_driver(shape, dtype):
    """A tensor in what the driver has allocated."""
    import ctypes
    cuda = ctypes.CDLL("libcuda.so.1")
    context, at = ctypes.c_void_p(), ctypes.c_uint64()
    cuda.cuInit(0)
    cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    cuda.cuCtxPushCurrent_v2(context)
    count = int(torch.Size(shape).numel())
    bytes_ = count * torch.zeros(1, dtype=dtype).element_size()
    assert cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(bytes_)) == 0
    lent = (ctypes.c_char * bytes_).from_address(at.value)
    return torch.frombuffer(lent, dtype=dtype, count=count).reshape(shape)


def with_driver():
    """In a process of its own, whose driver is that of tests/device/fake_cuda."""
    recorded = []
    stream = types.SimpleNamespace(cuda_stream=0)
    places = []

    def empty(shape, dtype, device):
        places.append(device)
        return memory_of_the_driver(shape, dtype)

    with mock.patch.object(torch.version, "cuda", "13.0"), \
            mock.patch.multiple(torch.cuda, init=lambda: None, device_count=lambda: 1,
                                current_device=lambda: 0, current_stream=lambda where: stream), \
            mock.patch.object(torch.Tensor, "record_stream",
                              lambda tensor, on: recorded.append(on)), \
            brigade.Loader(graph(), device="cuda") as loader, \
            brigade.Loader(graph(), tensors="torch") as lent:
        with mock.patch.object(torch, "empty", empty):
            batches = list(loader)
            moved = [batch.to("cuda:0") for batch in lent]
    expected = plain()[0]  # the loaders' ends have waited for the driver
    assert [seen(batch) for batch in batches] == expected, "other batches"
    assert [seen(batch) for batch in moved] == expected, "other batches of to()"
    assert set(places) == {torch.device("cuda:0")}, places
    assert recorded and set(map(id, recorded)) == {id(stream)}, "record_stream()"
    print("whole")


if __name__ == "__main__":
    if "--with-driver" in sys.argv:
        with_driver()
    else:
        unittest.main(argv=sys.argv[:1])
