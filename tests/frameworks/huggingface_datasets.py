"""Hugging Face datasets: map-style as tensors, iterable ones with set_epoch(), state_dict() and
split_dataset_by_node()."""

import os

import datasets
from datasets.distributed import split_dataset_by_node

from common import read, same


def table(count):
    return datasets.Dataset.from_dict({"i": list(range(count)),
                                       "x": [[i / count] for i in range(count)]})


def with_pid(one):
    return {**one, "pid": os.getpid()}


def stream(count, shards):
    return table(count).to_iterable_dataset(num_shards=shards).map(with_pid).with_format("torch")


def program(DataLoader):
    found, rank, world = {}, int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    mapped = split_dataset_by_node(table(103).with_transform(tensors), rank, world)
    found["map-style"] = read(DataLoader(mapped, 8, num_workers=2))
    found["set_format"] = [one["i"].tolist() for one in DataLoader(
        table(103).with_format("torch"), 8, num_workers=2)]

    shuffled = stream(96, 8).shuffle(seed=3, buffer_size=16)
    for name, dataset in (("iterable", shuffled),
                          ("split_dataset_by_node", split_dataset_by_node(shuffled, rank, world))):
        loader = DataLoader(dataset, 8, num_workers=2, persistent_workers=True)
        found[name + ", set_epoch()"] = []
        for epoch in range(3):
            dataset.set_epoch(epoch)
            found[name + ", set_epoch()"].append(read(loader))

    loader = DataLoader(stream(96, 4), 8, num_workers=2)
    if hasattr(loader, "state_dict"):
        iterator = iter(loader)
        begun = [next(iterator)["i"].tolist() for _ in range(3)]
        state = loader.state_dict()
        rest = [one["i"].tolist() for one in iterator]
        loader.load_state_dict(state)
        assert read(loader) == rest and len(begun + rest) == 12, (begun, rest)
    return found


def tensors(rows):
    """What with_format("torch") gives, and which worker."""
    import torch
    return {"i": torch.tensor(rows["i"]), "x": torch.tensor(rows["x"]),
            "pid": torch.full((len(rows["i"]),), os.getpid())}


if __name__ == "__main__":
    for ours in same(program):
        for name in ("iterable", "split_dataset_by_node"):
            epochs = ours[name + ", set_epoch()"]
            assert epochs[0] != epochs[1] != epochs[2], name
