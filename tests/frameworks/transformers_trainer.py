"""Transformers' Trainer, whose subclass makes the loader; resume with and without
ignore_data_skip."""

import os
import sys
import tempfile

import torch
from transformers import Trainer, TrainingArguments

from common import Numbers, kill, same


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        self.read = []

    def forward(self, i, x, pid):
        if not self.read:
            kill({"pid": pid})
        self.read.append(i.tolist())
        return {"loss": self.layer(x).square().mean()}


def trainer_with(DataLoader):
    class Own(Trainer):
        def get_train_dataloader(self):
            generator = torch.Generator().manual_seed(7)
            loader = DataLoader(self.train_dataset, self.args.per_device_train_batch_size,
                                shuffle=True, generator=generator, num_workers=2)
            return self.accelerator.prepare(loader)

    return Own


def train(DataLoader, folder, resume=None, **options):
    arguments = TrainingArguments(
        folder, use_cpu=True, per_device_train_batch_size=8, num_train_epochs=2, report_to=[],
        save_steps=5, disable_tqdm=True, logging_strategy="no", remove_unused_columns=False,
        seed=1, **options)
    model = Model()
    trainer_with(DataLoader)(model, arguments, train_dataset=Numbers(103)).train(
        resume_from_checkpoint=resume)
    return model.read


def program(DataLoader):
    folder = os.path.join(tempfile.gettempdir(), f"{sys.argv[1]}_{os.environ['MASTER_PORT']}")
    found = {"two epochs": train(DataLoader, folder)}
    checkpoint = os.path.join(folder, "checkpoint-5")
    found["resumed"] = train(DataLoader, folder, checkpoint)
    found["ignore_data_skip"] = train(DataLoader, folder, checkpoint, ignore_data_skip=True)
    return found


if __name__ == "__main__":
    for ours in same(program):
        assert ours["resumed"] == ours["two epochs"][5:]
