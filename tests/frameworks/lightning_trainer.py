"""Lightning: Trainer with ddp, by torchrun's variables and by its own launcher."""

import os
import sys
import tempfile

import lightning
import torch

from common import Numbers, Stream, kill, same

CPU = {"accelerator": "cpu", "logger": False, "enable_progress_bar": False, "devices": 2,
       "enable_model_summary": False, "strategy": "ddp"}


class Model(lightning.LightningModule):
    def __init__(self, loader):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        self.loader, self.read, self.save = loader, [], None
        self.automatic_optimization = True

    def train_dataloader(self):
        return self.loader()

    def training_step(self, batch, index):
        if index == 0:
            kill(batch)
        self.read.append(batch["i"].tolist())
        return self.layer(batch["x"]).sum()

    def on_train_batch_end(self, outputs, batch, index):
        if self.save and self.save[0] == len(self.read):
            self.trainer.save_checkpoint(self.save[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.01)


def fit(loader, checkpoint=None, save=None, **options):
    lightning.seed_everything(1, verbose=False)
    model = Model(loader)
    model.save = save
    with tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(**{**CPU, "max_epochs": 1, "default_root_dir": folder,
                                       "enable_checkpointing": False, **options})
        trainer.fit(model, ckpt_path=checkpoint, weights_only=False)
    return model.read


def program(DataLoader):
    found = {}

    def shuffled():
        return DataLoader(Numbers(103), 8, shuffle=True, num_workers=2)

    def stream():
        return DataLoader(Stream(96), 8, num_workers=2)

    found["two epochs"] = fit(shuffled, max_epochs=2)
    found["limit_train_batches"] = fit(shuffled, limit_train_batches=3, max_epochs=2)
    found["reload_dataloaders_every_n_epochs"] = fit(
        shuffled, reload_dataloaders_every_n_epochs=1, max_epochs=2)
    found["use_distributed_sampler=False"] = fit(shuffled, use_distributed_sampler=False)
    for name, loader in (("map-style", shuffled), ("iterable", stream)):
        saved = os.path.join(tempfile.gettempdir(), f"{sys.argv[1]}_{name}.ckpt")
        found[name] = fit(loader, save=(3, saved))
        found[name + ", resumed"] = fit(loader, checkpoint=saved)
    return found


if __name__ == "__main__":
    # Lightning saves no position of torch's loader.
    for ours in same(program, differs=("map-style, resumed", "iterable, resumed")):
        for name in ("map-style", "iterable"):
            assert ours[name + ", resumed"] == ours[name][3:], ours
