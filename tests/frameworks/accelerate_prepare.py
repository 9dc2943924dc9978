"""accelerate: prepare(), skip_first_batches(), gather_for_metrics(), dispatching, iterables."""

from accelerate import Accelerator, DataLoaderConfiguration, skip_first_batches
from accelerate.utils import set_seed

from common import Numbers, Stream, read, same


def prepared(DataLoader, dataset, options=None, **of_loader):
    accelerator = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(
        **(options or {})))
    set_seed(1)
    of_loader = {"batch_size": 8, "num_workers": 2, **of_loader}
    return accelerator, accelerator.prepare(DataLoader(dataset, **of_loader))


def program(DataLoader):
    found, numbers = {}, Numbers(103)

    accelerator, loader = prepared(DataLoader, numbers, shuffle=True)
    found["two epochs"] = [read(loader) for _ in range(2)]
    found["lengths"] = [len(loader), loader.total_batch_size]
    found["skip_first_batches"] = read(skip_first_batches(loader, 3))

    _, whole = prepared(DataLoader, numbers, shuffle=True, persistent_workers=True)
    found["persistent workers"] = [read(whole) for _ in range(2)]
    for name, options in (("split_batches", {"split_batches": True}),
                          ("even_batches=False", {"even_batches": False}),
                          ("dispatch_batches", {"dispatch_batches": True}),
                          ("use_seedable_sampler", {"use_seedable_sampler": True})):
        _, one = prepared(DataLoader, numbers, options, shuffle=True)
        found[name] = read(one)
    _, one = prepared(DataLoader, numbers, drop_last=True)
    found["drop_last"] = read(one)

    accelerator, loader = prepared(DataLoader, numbers)
    found["gather_for_metrics"] = [accelerator.gather_for_metrics(batch["i"]).tolist()
                                   for batch in loader]
    assert sum(found["gather_for_metrics"], []) == list(range(103))

    for name, options in (("iterable, dispatched", {}),
                          ("iterable, on each rank", {"dispatch_batches": False})):
        _, one = prepared(DataLoader, Stream(96), options)
        found[name] = read(one)
    raw = DataLoader(numbers, 8, num_workers=2)
    found["skip_first_batches of a loader"] = read(skip_first_batches(raw, 10))
    return found


if __name__ == "__main__":
    same(program)
