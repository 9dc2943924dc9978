"""Ignite: an Engine over a loader, on each rank."""

import ignite.distributed as idist
import torch
from ignite.engine import Engine

from common import Numbers, kill, same


def run(loader, **options):
    read = []

    def step(engine, batch):
        if not read:
            kill(batch)
        read.append(batch["i"].tolist())

    Engine(step).run(loader, max_epochs=2, **options)
    return read


def program(DataLoader):
    idist.initialize("gloo")
    numbers = Numbers(103)
    sampler = torch.utils.data.DistributedSampler(numbers, seed=3)
    found = {
        "two epochs": run(DataLoader(numbers, 8, sampler=sampler, num_workers=2)),
        "epoch_length": run(DataLoader(numbers, 8, sampler=sampler, num_workers=2),
                            epoch_length=10)}
    idist.finalize()
    return found


if __name__ == "__main__":
    same(program)
