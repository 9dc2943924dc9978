#!/usr/bin/env bash
# torchdata 0.11.0 with torch 2.15.0: StatefulDataLoader.state_dict() at the end of an epoch.
# Guess: after the last batch it is the end of the epoch, and a resumed loader begins the next
# one.
# Seen: that holds once StopIteration was raised. Taken right after the last batch, as a training
# loop with a step limit takes it, the state gives an epoch without a batch first.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
  torchdata==0.11.0 torch==2.15.0
cat >"$folder/program.py" <<'PY'
from torchdata.stateful_dataloader import StatefulDataLoader

def made():
    return StatefulDataLoader(list(range(6)), batch_size=2)

def epochs_after(state):
    loader = made()
    loader.load_state_dict(state)
    return [len(list(loader)) for _ in range(3)]

for steps in (3, None):
    loader = made()
    iterator = iter(loader)
    for _ in range(steps or 0):
        next(iterator)
    if steps is None:
        list(iterator)
    print("saved after", "the last batch:" if steps else "StopIteration:",
          epochs_after(loader.state_dict()))
PY
cat >"$folder/seen" <<'SEEN'
saved after the last batch: [0, 3, 3]
saved after StopIteration: [3, 3, 3]
SEEN
cd "$folder"
if env/bin/python -W ignore program.py | diff seen -; then
  echo "as seen"
else
  echo "the behavior has changed (<: seen, >: now)"
  exit 1
fi
