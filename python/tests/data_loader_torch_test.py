"""brigade.DataLoader with torch: its order, its tensors, its generators."""

import collections
import http
import inspect
import json
import logging
import sys
import unittest
import warnings
from unittest import mock

try:
    import torch
    import torch_sets
except ImportError:
    torch = None

import brigade
from brigade import _data_layout, _pickling
from brigade._data_layout import Reader
from data_loader_test import plain
from data_sets import Numbers, Random, at_most_4_mib, same
from graphs import EPOCH, graph


def open_loader(dataset, **options):
    return brigade.DataLoader(dataset, **{"collate_fn": list, **options})


@unittest.skipIf(torch is None, "torch is not installed (python3-torch)")
class Torch(unittest.TestCase):
    def test_generators_go_on(self):
        def made():
            return open_loader(Numbers(10), batch_size=3, shuffle=True, num_workers=1,
                               generator=torch.Generator())

        with made() as loader:
            epochs = [[plain(batch) for batch in loader] for _ in range(3)]
        self.assertNotEqual(epochs[0], epochs[1])
        with made() as loader:
            list(loader)
            for given in range(5):
                iterator = iter(loader)
                self.assertEqual([plain(next(iterator)) for _ in range(given)],
                                 epochs[1][:given])
                state = json.loads(json.dumps(loader.state_dict()))
                loader.generator.manual_seed(99)
                loader.load_state_dict(state)
                for rest in (epochs[1][given:], epochs[2]):
                    self.assertEqual([plain(batch) for batch in loader], rest, given)
                loader.load_state_dict({**state, "given": 0})

    def test_torch_s_own_generator_goes_on(self):
        with open_loader(Random(10), batch_size=2, shuffle=True, num_workers=2) as loader:
            iterator = iter(loader)
            next(iterator)
            state, saved = loader.state_dict(), torch.get_rng_state()
            rest = [plain([one["value"] for one in batch]) for batch in iterator]
            following = [plain([one["value"] for one in batch]) for batch in loader]
            loader.load_state_dict(state)
            before = torch.get_rng_state()
            self.assertEqual([plain([one["value"] for one in batch]) for batch in loader], rest)
            self.assertTrue(torch.equal(before, torch.get_rng_state()))
            after = []
            for generator in (before, saved):  # which the epochs after it are drawn from
                torch.set_rng_state(generator)
                after.append([plain([one["value"] for one in batch]) for batch in loader])
            self.assertNotEqual(after[0], following)
            self.assertEqual(after[1], following)

    def test_parameters_are_torch_s_in_its_order(self):
        def parameters(kind):
            found = list(inspect.signature(kind.__init__).parameters.values())
            return [(one.name, one.kind) for one in found]

        ours = parameters(brigade.DataLoader)
        self.assertEqual(ours.pop()[0], "on_event")  # which is Brigade's own
        self.assertEqual(ours.pop()[0], "in_order")  # which torch has from 2.6 on
        theirs = parameters(torch.utils.data.DataLoader)
        self.assertEqual(ours, [one for one in theirs if one[0] != "in_order"])

    def test_data_pipes_are_refused(self):
        from torch.utils.data.datapipes.iter import IterableWrapper
        with self.assertRaisesRegex(ValueError, "is a DataPipe, .*; wrap it in an IterableDataset"):
            open_loader(IterableWrapper(range(3)))

    def test_a_loader_of_torch_s_that_forks_harms_nobody(self):
        with brigade.Loader(graph(), tensors="torch", hold=32) as loader:
            iterator = iter(loader)
            first = next(iterator)
            theirs = torch.utils.data.DataLoader(range(40), 4, num_workers=2)
            self.assertEqual(plain(torch.cat(list(theirs))), list(range(40)))
            self.assertEqual(plain(first["data"][:, 0]), first.ids)
            self.assertEqual(1 + sum(1 for _ in iterator), len(EPOCH))

    def test_pinning_without_an_accelerator_is_a_warning(self):
        if torch.cuda.is_available():
            self.skipTest("there is one")
        with open_loader(Numbers(4), pin_memory=True) as loader, \
                self.assertWarnsRegex(UserWarning, "pin_memory=True has no effect"):
            self.assertEqual(len(list(loader)), 4)

    def test_the_order_is_torch_s(self):
        for count in (0, 2):
            orders = []
            for kind in (torch.utils.data.DataLoader, brigade.DataLoader):
                torch.manual_seed(7)
                loader = kind(range(50), 8, shuffle=True, num_workers=count)
                orders.append([plain(batch) for _ in range(2) for batch in loader])
            self.assertEqual(orders[0], orders[1])

    def test_tensors_are_what_they_were(self):
        values = [torch.arange(6).view(2, 3).T, torch.zeros(0, 3), torch.tensor(3.5),
                  torch.ones(2, dtype=torch.bfloat16), torch.tensor([True, False]),
                  torch.ones(2, dtype=torch.complex64), torch.ones(3, requires_grad=True),
                  torch.full((2, 3), 1j).T.conj(), torch.full((2,), 1j).conj().imag,
                  torch.nn.Parameter(torch.ones(2)), torch.eye(3).to_sparse()]
        with brigade.DataLoader([values], None, num_workers=1, collate_fn=same) as loader:
            (got,) = loader
        for one, other in zip(values, got):
            self.assertEqual((one.dtype, one.shape, one.requires_grad, type(one), one.layout),
                             (other.dtype, other.shape, other.requires_grad, type(other),
                              other.layout))
            self.assertTrue(torch.equal(one.to_dense() if one.is_sparse else one,
                                        other.to_dense() if other.is_sparse else other))

    def test_storages_without_a_type(self):
        values = [torch.arange(count).storage().untyped() for count in (3, 0)]
        with brigade.DataLoader([values], None, num_workers=1, collate_fn=same) as loader:
            (got,) = loader
        for one, other in zip(values, got):
            self.assertEqual((type(one), one.tolist()), (type(other), other.tolist()))
            self.assertEqual(one.nbytes(), other.nbytes())

    def test_an_order_in_memory_is_kept(self):
        images = torch.arange(48.0).view(2, 2, 3, 4)
        kept = [images.to(memory_format=torch.channels_last), images.transpose(1, 3),
                images[:1].permute(3, 0, 2, 1)]
        others = [images[:, :, ::2], images[..., :1].expand(2, 2, 3, 4)]  # with gaps, or none
        with brigade.DataLoader(kept + others, None, num_workers=1, collate_fn=same) as loader:
            got = list(loader)
        for one, other in zip(kept + others, got, strict=True):
            self.assertTrue(torch.equal(one, other))
        self.assertEqual([one.stride() for one in kept], [one.stride() for one in got[:3]])
        self.assertTrue(got[0].is_contiguous(memory_format=torch.channels_last))
        self.assertTrue(all(one.is_contiguous() for one in got[3:]))

    def test_zeros_that_are_not_stored(self):
        with brigade.DataLoader(torch_sets.Zeros(2), None, num_workers=1) as loader:
            for batch in loader:
                self.assertEqual(batch.tolist(), 2 * [3 * [0.0]])
                batch.add_(1)  # which torch refuses of what has no memory

    def test_nested_tensors_go_torch_s_own_way(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a prototype
            nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
        self.assertFalse(_data_layout._is_plain(nested, torch))
        self.assertIs(_pickling._reduce_tensor(nested, torch), _pickling._ITS_OWN_WAY)

    def test_batches_of_plain_tensors_are_not_pickled(self):
        one, other = torch.arange(6.0).view(2, 3), torch.tensor(3.5)
        plain_ones = [one, [one, other], (one, other), {"x": one, 7: other}, [], {}, other, [one],
                      [one.short()], [one > 2], [one.bfloat16()], (torch.ones(1, 1, 1, 1),)]
        others = [[one, one], {("x",): one}, collections.OrderedDict(x=one), [one, one[:0]],
                  [one, torch.ones(2, requires_grad=True)], [one, 1], [[one]],
                  [torch.nn.Parameter(one)]]
        batches = 2 * plain_ones + others
        with mock.patch.object(Reader, "read", autospec=True, side_effect=Reader.read) as read, \
                brigade.DataLoader(batches, None, num_workers=1, collate_fn=same) as loader:
            for batch, got in zip(batches, loader, strict=True):
                self.assertEqual((type(got), plain(got)), (type(batch), plain(batch)))
                tensors = [got, batch] if isinstance(batch, torch.Tensor) else \
                    [*zip(got, batch)][0] if isinstance(batch, (list, tuple)) and batch else []
                self.assertEqual(len({getattr(tensor, "dtype", None) for tensor in tensors}),
                                 len(tensors[:1]))
            self.assertEqual(read.call_count, 2 * len(plain_ones))
        with brigade.DataLoader([[one, one]], None, num_workers=1, collate_fn=same) as loader:
            ((first, second),) = loader
        self.assertIs(first, second)
        with brigade.DataLoader(torch_sets.Views(2), None, num_workers=1) as loader:
            self.assertEqual(plain(list(loader)), plain(list(map(torch_sets.Views(2), range(2)))))

    def test_keys_that_are_equal_are_told_apart(self):
        one = torch.ones(2)
        keys = [1, True, 1.0, 200, http.HTTPStatus.OK, "x", 0, False]
        with brigade.DataLoader([{key: one} for key in keys], None, num_workers=1,
                                collate_fn=same) as loader:
            got = [key for batch in loader for key in batch]
        self.assertEqual([(type(key), key) for key in got], [(type(key), key) for key in keys])

    def test_default_collate_is_in_place(self):
        with brigade.DataLoader(torch_sets.Stacked(8), 4, num_workers=1) as loader:
            batches = list(loader)
        self.assertEqual(batches[1]["x"][:, 0].tolist(), [4, 5, 6, 7])
        batches[1]["x"].zero_()  # it is the loop's
        self.assertEqual(batches[0]["x"][:, 0].tolist(), [0, 1, 2, 3])
        self.assertEqual(batches[0]["names"], ["0", "1", "2", "3"])

    def test_what_changing_shapes_cost_is_said_once(self):
        fixed, short = torch.ones(4, 3), torch.ones(1, 3)
        changing = [torch.ones(4, size) for size in (3, 5, 4)]
        for lines, batches in ((1, changing * 3), (0, [fixed, fixed, short]),
                               (0, [fixed, changing[1], changing[1], changing[2].int()])):
            with brigade.DataLoader(batches, None, num_workers=1, collate_fn=same) as loader, \
                    self.assertLogs("brigade", "WARNING") as log:
                logging.getLogger("brigade").warning("at least one line")
                for _ in range(2):
                    for one, other in zip(batches, loader, strict=True):
                        self.assertEqual(plain(one), plain(other))
            self.assertEqual(sum("change their shapes" in line for line in log.output), lines)
            self.assertEqual(len(log.output), lines + 1)

    def test_a_batch_that_is_too_large_says_so(self):
        for options in ({"batch_size": None, "collate_fn": same}, {"batch_size": 2}):
            with brigade.DataLoader(torch_sets.Full(4), num_workers=1,
                                    worker_init_fn=at_most_4_mib, **options) as loader:
                iterator = iter(loader)
                for _ in range(2):
                    with self.assertRaisesRegex(MemoryError, "use a smaller batch_size"):
                        next(iterator)

    def test_what_a_worker_keeps_is_nobody_else_s(self):
        with brigade.DataLoader(torch_sets.Stacked(40), 2, num_workers=1,
                                collate_fn=torch_sets.Keeping()) as loader:
            for batch in loader:
                self.assertTrue(batch["same"])
                batch["x"].zero_()

    def test_seeds_of_worker_init_fn_hold(self):
        with brigade.DataLoader(torch_sets.Seeds(8), 2, num_workers=2,
                                worker_init_fn=torch_sets.seed_12345) as loader:
            self.assertEqual({int(seed) for batch in loader for seed in batch}, {12345})

    def test_numpy_and_torch_draw_different_numbers_in_a_batch(self):
        import numpy
        numpy.random.seed(5)
        torch.manual_seed(5)
        of_numpy, of_torch = torch_sets.draws_of_both()
        self.assertTrue(of_numpy & of_torch)  # one algorithm
        for init in (None, torch_sets.nothing):
            with brigade.DataLoader(torch_sets.Draws(4), None, num_workers=1, collate_fn=same,
                                    worker_init_fn=init) as loader:
                for of_numpy, of_torch in loader:
                    self.assertFalse(of_numpy & of_torch)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
