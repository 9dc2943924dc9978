"""Arrays that map a file reach the workers of a DataLoader as that file: nothing is copied."""

import os
import sys
import tempfile
import unittest
from unittest import mock

try:
    import numpy
    import torch
    from torch.utils.data import default_convert
except ImportError as error:
    print(f"skipped: {error} (python3-numpy, python3-torch)")
    sys.exit(77)

import brigade
from brigade import _memmaps
from brigade._data_pool import Payload

ROWS, COLUMNS = 4096, 256
COPIED = ROWS * COLUMNS * 2  # bytes of the file
SMALL = 1 << 16


class Sums:
    """Sample i is the sum of row i, and what the worker's array is."""

    def __init__(self, array):
        self.array = array

    def __len__(self):
        return 8

    def __getitem__(self, i):
        return int(self.array[i].sum()), type(self.array).__name__


class Marks(Sums):
    def __getitem__(self, i):
        self.array[i] = i
        return i


class InTemporary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(os.path.realpath(folder.name), "a file's äöü name (deleted)")
        self.values = numpy.arange(ROWS * COLUMNS, dtype="u2").reshape(ROWS, COLUMNS)
        self.values.tofile(self.path)
        mapped = self.map()
        with open("/proc/self/maps") as lines:
            line = next(one for one in lines if one.rstrip().endswith(self.path))
        if line.split()[4] != str(os.stat(self.path).st_ino):
            self.skipTest("this file system tells another inode of what is mapped (overlayfs)")
        del mapped

    def map(self, mode="r", **options):
        return numpy.memmap(self.path, "u2", mode, shape=(ROWS, COLUMNS), **options)

    def sent(self, thing):
        """(what a worker gets, bytes of the payload, its descriptors)"""
        payload = Payload(thing)
        return Payload.read(os.getpid(), payload.place), payload.place[1], len(payload._kept)


class Payloads(InTemporary):
    def check(self, array, is_copied=False):
        got, size, _ = self.sent(array)
        numpy.testing.assert_array_equal(got, array)
        self.assertEqual((got.dtype, type(got)), (array.dtype, type(array)))
        (self.assertGreaterEqual if is_copied else self.assertLess)(
            size, array.nbytes if is_copied else SMALL)
        return got

    def test_each_layout(self):
        whole = self.map()
        late = numpy.memmap(self.path, "u1", "r", offset=4097, shape=(1 << 20,))
        for array in (whole, whole[1000:], whole[::-1], whole[5::3, 7:], whole[:, 9], whole.T,
                      self.map(order="F"), numpy.asarray(whole[3:]), whole[100:].view("i4"), late,
                      late[4096:], whole.reshape(-1).view([("a", "u2"), ("b", "u2", 3)])):
            got = self.check(array)
            self.assertEqual((got.strides, got.flags.writeable), (array.strides, False))
            self.assertLess(self.sent(got)[1], SMALL)  # from there, too

    def test_files_of_npy(self):
        path = self.path + ".npy"
        numpy.save(path, self.values)
        got = self.check(numpy.load(path, mmap_mode="r"))
        self.assertEqual((got.filename, got.mode), (path, "r"))

    def test_slices_of_one_file_need_one_descriptor(self):
        whole = self.map()
        got, size, descriptors = self.sent([whole[i:i + 2] for i in range(100)])
        self.assertEqual((len(got), descriptors), (100, 1))
        self.assertLess(size, SMALL)

    def test_tensors(self):
        whole = torch.from_numpy(self.map("r+").view("i2"))
        for tensor in (whole, whole[100:, 3:], whole.T, whole.view(torch.bfloat16)[4:]):
            got, size, _ = self.sent(tensor)
            self.assertLess(size, SMALL)
            self.assertTrue(torch.equal(got.view(torch.int16), tensor.view(torch.int16)))
            self.assertEqual((got.dtype, got.stride()), (tensor.dtype, tensor.stride()))
        whole[3] = 7  # the last one is in the file, too
        got = self.sent(whole)[0]
        got[4] = 8
        self.assertEqual((int(got[3, 0]), int(whole[4, 9])), (7, 8))
        os.remove(self.path)
        got, size, _ = self.sent(whole)
        self.assertGreaterEqual(size, COPIED)
        self.assertTrue(torch.equal(got, whole))
        self.assertGreaterEqual(self.sent(whole.clone())[1], COPIED)

    def test_writes_reach_the_file(self):
        array = self.map("r+")
        got = self.check(array)
        got[5] = 77
        self.assertEqual(array[5, 0], 77)
        array.flags.writeable = False
        self.assertFalse(self.check(array).flags.writeable)

    def test_private_changes_are_copied(self):
        array = self.map("c")
        array[7] = 9
        self.check(array, is_copied=True)

    def test_memory_without_a_file_is_copied(self):
        import mmap
        array = numpy.frombuffer(mmap.mmap(-1, COPIED), "u2")
        array[:] = 5
        self.check(array, is_copied=True)
        self.check(self.map()[:0], is_copied=True)  # of no bytes

    def test_of_a_file_that_is_gone_or_another_one(self):
        array = self.map()
        os.remove(self.path)
        self.check(array, is_copied=True)
        (self.values + 1).tofile(self.path)
        self.check(array, is_copied=True)
        self.assertNotEqual(self.map()[0, 0], array[0, 0])  # control: the name has other bytes

    def test_that_is_replaced_before_a_worker_opens_it(self):
        for descriptors in (1, 0):
            with mock.patch.object(_memmaps, "_DESCRIPTORS_MAX", descriptors):
                array = self.map()
                payload = Payload(array)
                self.assertLess(payload.place[1], SMALL)
                os.rename(self.path, self.path + "old")
                self.values.tofile(self.path)
                if descriptors:
                    got = Payload.read(os.getpid(), payload.place)
                    numpy.testing.assert_array_equal(got, array)
                    continue
                with self.assertRaisesRegex(RuntimeError, "was replaced or truncated"):
                    Payload.read(os.getpid(), payload.place)
                os.rename(self.path + "old", self.path)  # control: the same call with its own file
                numpy.testing.assert_array_equal(Payload.read(os.getpid(), payload.place), array)


class Workers(InTemporary):
    def loader(self, dataset):
        return brigade.DataLoader(dataset, batch_size=None, num_workers=1,
                                  collate_fn=default_convert, multiprocessing_context="spawn")

    def test_read_the_file_in_each_epoch(self):
        for array in (self.map(), numpy.asarray(self.map()[100:])):
            with self.loader(Sums(array)) as loader:
                for _ in range(2):
                    expected = [(int(array[i].sum()), type(array).__name__) for i in range(8)]
                    self.assertEqual([tuple(one) for one in loader], expected)
                    self.assertLess(loader._payload.place[1], SMALL)

    def test_write_into_the_file(self):
        array = self.map("r+")
        with self.loader(Marks(array)) as loader:
            self.assertEqual(list(loader), list(range(8)))
        self.assertEqual(array[:8, 5].tolist(), list(range(8)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
