"""Datasets of torch's tensors, for tests of the DataLoader."""

import torch

from data_sets import Numbers


class Stacked(Numbers):
    def __getitem__(self, i):
        return {"x": torch.full((300,), float(i)), "names": str(i)}


class Zeros(Numbers):
    """That torch does not store, in the order of memory and in another."""

    def __getitem__(self, i):
        return [torch._efficientzerotensor((2, 3)), torch._efficientzerotensor((3, 2)).T][i]


class Full(Numbers):
    """Tensors that take a block until less is left than an error takes."""

    def __getitem__(self, i):
        return [torch.zeros(1 << size, dtype=torch.uint8) for size in (20, 20, *range(20, 5, -1))]


class Views(Numbers):
    """Of other contents than their memory, or in another order."""

    def __getitem__(self, i):
        return [torch.arange(6.0).view(2, 3).T, torch.arange(6.0).mul(1j).conj()][i]

    __call__ = __getitem__


class Keeping:
    """A collate_fn that looks at the batch before."""

    def __init__(self):
        self.before = self.copy = None

    def __call__(self, samples):
        batch = torch.utils.data.default_collate(samples)
        batch["same"] = self.before is None or torch.equal(self.before, self.copy)
        self.before, self.copy = batch["x"], batch["x"].clone()
        return batch


class Seeds(Numbers):
    def __getitem__(self, i):
        return torch.initial_seed()


def seed_12345(worker):
    torch.manual_seed(12345)


def nothing(worker):
    pass


def draws_of_both():
    """Words that NumPy's generator and torch's draw, as two sets."""
    import numpy
    return ({int(one) for one in numpy.random.randint(0, 2**32, 20, numpy.uint64)},
            set(torch.randint(0, 2**32, (20,)).tolist()))


class Draws(Numbers):
    def __getitem__(self, i):
        return draws_of_both()


class OfAnotherLoader(torch.utils.data.IterableDataset):
    """With methods that have the names of torchdata's, and want more, as StreamingDataset has."""

    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        yield from range(info.id if info else 0, 12, info.num_workers if info else 1)

    def state_dict(self, num_samples, from_beginning):
        raise AssertionError("not of this loader")

    def load_state_dict(self, state):
        raise AssertionError("not of this loader")


class CountsEpochs(OfAnotherLoader):
    """In memory that processes share, as mosaicml-streaming's StreamingDataset does."""

    def __init__(self):
        self.shared = torch.zeros(1, dtype=torch.int64).share_memory_()

    @property
    def next_epoch(self):
        return int(self.shared[0])

    @next_epoch.setter
    def next_epoch(self, epoch):
        self.shared[0] = epoch

    def __iter__(self):
        epoch = self.next_epoch
        self.next_epoch = epoch + 1
        return iter(range(100 * epoch, 100 * epoch + 12))


class Epochs(torch.utils.data.IterableDataset):
    """Passes its epoch to workers as Hugging Face's datasets do."""

    def __init__(self):
        self.epoch = torch.tensor(0).share_memory_()
        self.table = torch.arange(6).share_memory_().view(2, 3).T

    def set_epoch(self, epoch):
        self.epoch += epoch - self.epoch

    def __iter__(self):
        yield [int(self.epoch), self.table.tolist(), self.table.is_shared()]


def _import_in_worker():
    import module_that_workers_do_not_have


class NotInWorkers(Numbers):
    """Pickled, and read in another process by nobody."""

    def __reduce__(self):
        return _import_in_worker, ()


class ImportsInWorkers(Numbers):
    def __getitem__(self, i):
        if torch.utils.data.get_worker_info() is not None:
            _import_in_worker()
        return i


def read_in_process(loader, results):
    results.put([batch.tolist() for batch in loader])
    loader.close()
