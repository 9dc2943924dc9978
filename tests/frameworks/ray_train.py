"""Ray Train: prepare_data_loader() in a TorchTrainer of two workers."""

import json
import os
import sys
import tempfile

from ray.train import ScalingConfig
from ray.train.torch import TorchTrainer, prepare_data_loader

from common import LOADERS, Numbers, read, same


def train(config):
    import ray.train
    sys.argv[1:] = [config["kind"]]
    loader = prepare_data_loader(LOADERS[config["kind"]](Numbers(103), 8, shuffle=True,
                                                         num_workers=2))
    epochs = []
    for epoch in range(2):
        loader.sampler.set_epoch(epoch)
        epochs.append(read(loader))
    rank = ray.train.get_context().get_world_rank()
    with open(os.path.join(config["folder"], str(rank)), "w") as written:
        json.dump(epochs, written)


def program(DataLoader):
    with tempfile.TemporaryDirectory() as folder:
        TorchTrainer(train, train_loop_config={"kind": sys.argv[1], "folder": folder},
                     scaling_config=ScalingConfig(num_workers=2)).fit()
        return {f"rank {rank}": json.load(open(os.path.join(folder, str(rank))))
                for rank in range(2)}


if __name__ == "__main__":
    same(program, world=1)
