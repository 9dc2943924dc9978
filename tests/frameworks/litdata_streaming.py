"""litdata: StreamingDataset divides itself among ranks and workers."""

import os
import tempfile

import litdata
import torch

from common import read, same


def sample(i):
    return {"i": i, "x": torch.tensor([i / 104])}


class WithPid(litdata.StreamingDataset):
    def __getitem__(self, index):
        return {**super().__getitem__(index), "pid": os.getpid()}


def program(DataLoader):
    torch.distributed.init_process_group("gloo")
    folder = os.path.join(tempfile.gettempdir(), f"litdata_{os.environ['MASTER_PORT']}")
    if os.environ["RANK"] == "0":
        litdata.optimize(sample, list(range(104)), folder, num_workers=1, chunk_size=8,
                         verbose=False)
    torch.distributed.barrier()
    dataset = WithPid(folder, shuffle=True, seed=3)
    loader = DataLoader(dataset, batch_size=8, num_workers=2)
    found = {"an epoch": read(loader)}
    if hasattr(loader, "state_dict"):
        dataset.set_epoch(2)
        iterator = iter(loader)
        begun = [next(iterator)["i"].tolist() for _ in range(3)]
        state, rest = loader.state_dict(), [batch["i"].tolist() for batch in iterator]
        assert begun + rest != found["an epoch"]
        loader.load_state_dict(state)
        assert [batch["i"].tolist() for batch in loader] == rest
    return found


if __name__ == "__main__":
    first, second = (set(sum(ours["an epoch"], [])) for ours in same(program))
    assert first | second == set(range(104)) and not first & second
