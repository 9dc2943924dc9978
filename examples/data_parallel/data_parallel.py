"""Two ranks train one model, each on its part of the data; gradients are averaged by c10d (gloo).

    torchrun --nproc_per_node 2 data_parallel.py
    RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 python3 data_parallel.py &
    RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 python3 data_parallel.py
    python3 data_parallel.py                     # one process, with twice the batch

`mpirun -n 2` says rank and world in variables of its own, which this reads, too.
"""

import datetime
import os
import pathlib
import sys

import brigade
import torch
import torch.distributed as ranks

GRAPH = pathlib.Path(__file__).with_name("data_parallel.yaml")
SECONDS = float(os.environ.get("RANK_TIMEOUT", 60))


def of_launcher(name, otherwise):
    by_mpirun = f"OMPI_COMM_WORLD_{name.removeprefix('WORLD_')}"
    return int(os.environ.get(name, os.environ.get(by_mpirun, otherwise)))


def average_gradients(model, world):
    flat = torch.cat([one.grad.reshape(-1) for one in model.parameters()])
    ranks.all_reduce(flat)
    at = 0
    for one in model.parameters():
        one.grad = (flat[at:at + one.numel()] / world).view(one.shape)
        at += one.numel()


def train(rank, world):
    torch.manual_seed(7)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    batch_size = {} if world == 2 else {"stages.numbers.batch": 64}
    with brigade.Loader(GRAPH, "train", set=batch_size, tensors="torch") as loader:
        for batch in loader:
            wanted = batch["data"].mean(1, keepdim=True)
            loss = torch.nn.functional.mse_loss(model(batch["data"]), wanted)
            optimizer.zero_grad()
            loss.backward()
            if world > 1:
                average_gradients(model, world)
            optimizer.step()
    x = torch.linspace(0, 1, 160).view(10, 16)
    return torch.nn.functional.mse_loss(model(x), x.mean(1, keepdim=True)).item()


def main():
    rank, world = of_launcher("RANK", 0), of_launcher("WORLD_SIZE", 1)
    if world > 1:
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "29500")
        try:
            ranks.init_process_group("gloo", rank=rank, world_size=world,
                                     timeout=datetime.timedelta(seconds=SECONDS))
        except RuntimeError as error:
            return (f"rank {rank} of {world} waited {SECONDS:g} s for the others: "
                    + str(error).split("\n")[0])
    loss = train(rank, world)
    if rank == 0:
        print(f"loss {loss:.6f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
