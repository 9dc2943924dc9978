"""accelerate with use_stateful_dataloader=True: save_state() and load_state() in an epoch."""

import tempfile

from accelerate import Accelerator, DataLoaderConfiguration
from accelerate.utils import broadcast_object_list, set_seed

from common import Numbers, Stream, read, same


def resumed(DataLoader, dataset, **options):
    """An epoch with save_state() behind two batches, the next one, and what load_state() brings."""
    of_loader = {"shuffle": True} if isinstance(dataset, Numbers) else {}
    accelerator = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(
        use_stateful_dataloader=True, **options))
    set_seed(1)
    loader = accelerator.prepare(DataLoader(dataset, 8, num_workers=2, **of_loader))
    folder = [tempfile.mkdtemp()]
    broadcast_object_list(folder)
    batches = []
    for batch in loader:
        batches.append(batch["i"].tolist())
        if len(batches) == 2:
            accelerator.save_state(folder[0])
    following = read(loader)
    accelerator.load_state(folder[0])
    return batches, following, read(loader)


def program(DataLoader):
    found = {}
    for name, dataset, options in (("map-style", Numbers(103), {}),
                                   ("iterable", Stream(96), {"dispatch_batches": False})):
        batches, following, rest = resumed(DataLoader, dataset, **options)
        found[name], found[name + ", resumed"] = [batches, following], rest
    return found


if __name__ == "__main__":
    # torchdata's loader shuffles anew there: accelerate has moved the sampler's generator on.
    for ours in same(program, differs=("map-style, resumed",)):
        for name in ("map-style", "iterable"):
            assert ours[name + ", resumed"] == ours[name][0][2:], ours
