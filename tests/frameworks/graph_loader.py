"""brigade.Loader in Lightning's Trainer and with accelerate: its graph is divided among ranks."""

import tempfile

import lightning
import torch
from accelerate import Accelerator

import brigade
from common import same
from lightning_trainer import CPU

GRAPH = {"seed": 3, "stages": {
    "numbers": {"producer": "synthetic", "shuffle": True,
                "params": {"count": 96, "shape": [1], "dtype": "f32"}},
    "work": {"transform": "delay", "from": "numbers", "batch": 8},
    "train": {"consumer": "application", "from": "work"}}}


class Model(lightning.LightningModule):
    def __init__(self, loader):
        super().__init__()
        self.layer, self.loader, self.read = torch.nn.Linear(1, 1), loader, []

    def train_dataloader(self):
        return self.loader

    def training_step(self, batch, index):
        self.read.append(list(batch.ids))
        return self.layer(batch["data"]).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.01)


def fit(epochs):
    with brigade.Loader(GRAPH, tensors="torch") as loader, \
            tempfile.TemporaryDirectory() as folder:
        model = Model(loader)
        trainer = lightning.Trainer(**{**CPU, "max_epochs": epochs, "default_root_dir": folder,
                                       "enable_checkpointing": False})
        trainer.fit(model)
    return model.read


def program(_):
    found = {"lightning": fit(2)}
    with brigade.Loader(GRAPH, tensors="torch") as loader:
        prepared = Accelerator(cpu=True).prepare(loader)
        found["accelerate"] = [list(batch.ids) for _ in range(2) for batch in prepared]
    return found


if __name__ == "__main__":
    ranks = same(program)
    for name in ("lightning", "accelerate"):
        first, second = (set(sum(ours[name][:6], [])) for ours in ranks)
        assert not first & second and first | second == set(range(96)), (name, first, second)
