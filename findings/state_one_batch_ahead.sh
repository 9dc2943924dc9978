#!/usr/bin/env bash
# lightning 2.6.6 with torch 2.15.0: a loader's state_dict() in a checkpoint that is saved in
# on_train_batch_end().
# Guess: it is the position behind the batch that was just trained on.
# Seen: that holds for a loader with len(). Of one without, Lightning takes a batch ahead to know
# which one is the last, and the state that it saves is one batch further: a resumed training run
# leaves out a batch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
  lightning==2.6.6 torch==2.15.0
cat >"$folder/program.py" <<'PY'
import logging

import lightning.pytorch as pl
import torch

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class WithoutLen:
    def __init__(self):
        self.given = 0

    def __iter__(self):
        for i in range(6):
            self.given += 1
            yield torch.full((1, 1), float(i))

    def state_dict(self):
        return {"given": self.given}

    def load_state_dict(self, state):
        pass


class WithLen(WithoutLen):
    def __len__(self):
        return 6


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer, self.trained = torch.nn.Linear(1, 1), 0

    def training_step(self, batch, i):
        self.trained += 1
        return self.layer(batch).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.0)


class Save(pl.Callback):
    def on_train_batch_end(self, trainer, model, *_):
        if model.trained == 3:
            trainer.save_checkpoint("saved.ckpt")


for loader in (WithLen(), WithoutLen()):
    trainer = pl.Trainer(max_epochs=1, accelerator="cpu", logger=False,
                         enable_checkpointing=False, enable_progress_bar=False,
                         enable_model_summary=False, callbacks=[Save()])
    trainer.fit(Model(), loader)
    saved = torch.load("saved.ckpt", weights_only=False)
    print(type(loader).__name__, "trained on 3, saved", saved["loops"]["fit_loop"]["state_dict"])
PY
cat >"$folder/seen" <<'SEEN'
WithLen trained on 3, saved {'combined_loader': [{'given': 3}]}
WithoutLen trained on 3, saved {'combined_loader': [{'given': 4}]}
SEEN
cd "$folder"
if env/bin/python -W ignore program.py | diff seen -; then
  echo "as seen"
else
  echo "the behavior has changed (<: seen, >: now)"
  exit 1
fi
