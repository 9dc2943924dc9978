"""mosaicml-streaming: StreamingDataset divides itself among ranks and workers."""

import os
import tempfile

import numpy
import torch
from streaming import MDSWriter, StreamingDataset

from common import same


def program(DataLoader):
    torch.distributed.init_process_group("gloo")
    folder = os.path.join(tempfile.gettempdir(), f"mds_{os.environ['MASTER_PORT']}")
    if os.environ["RANK"] == "0":
        with MDSWriter(out=folder, columns={"i": "int", "x": "ndarray"}, size_limit=1 << 10) as out:
            for i in range(103):
                out.write({"i": i, "x": numpy.array([i / 103], numpy.float32)})
    torch.distributed.barrier()
    dataset = StreamingDataset(local=folder, batch_size=8, shuffle=True, shuffle_seed=3)
    loader = DataLoader(dataset, batch_size=8, num_workers=2)
    found = {"two epochs": [[batch["i"].tolist() for batch in loader] for _ in range(2)]}
    if hasattr(loader, "state_dict"):  # that of an epoch which is not the first
        iterator = iter(loader)
        begun = [next(iterator)["i"].tolist() for _ in range(3)]
        state, rest = loader.state_dict(), [batch["i"].tolist() for batch in iterator]
        assert begun + rest not in found["two epochs"]
        torch.distributed.barrier()
        loader.load_state_dict(state)
        assert [batch["i"].tolist() for batch in loader] == rest
    return found


if __name__ == "__main__":
    first, second = (set(sum(ours["two epochs"][0], [])) for ours in same(program))
    assert first | second == set(range(103)) and len(first & second) <= 1
