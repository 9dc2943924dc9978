#!/usr/bin/env bash
# accelerate 1.15.0 with torch 2.15.0: Accelerator.prepare() and skip_first_batches() of a
# subclass of torch's DataLoader.
# Guess: the loader that comes back is a wrapper that keeps the subclass, or at least its
# methods.
# Seen: it is rebuilt from constructor arguments. An overridden __iter__ is not called, so what a
# subclass adds (here: a factor) is gone without a warning, and attributes of the subclass are
# missing.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
  accelerate==1.15.0 torch==2.15.0
cat >"$folder/program.py" <<'PY'
import accelerate, torch

class Scaled(torch.utils.data.DataLoader):
    factor = 10
    def __iter__(self):
        return (batch * self.factor for batch in super().__iter__())

loader = Scaled(list(range(4)), batch_size=2)
prepared = accelerate.Accelerator(cpu=True).prepare(loader)
skipped = accelerate.skip_first_batches(loader, 1)
for name, one in (("made", loader), ("prepared", prepared), ("skipped", skipped)):
    print(name, type(one).__name__, isinstance(one, Scaled), hasattr(one, "factor"),
          [batch.tolist() for batch in one])
PY
cat >"$folder/seen" <<'SEEN'
made Scaled True True [[0, 10], [20, 30]]
prepared DataLoaderShard False False [[0, 1], [2, 3]]
skipped DataLoader False False [[2, 3]]
SEEN
cd "$folder"
if env/bin/python -W ignore program.py | diff seen -; then
  echo "as seen"
else
  echo "the behavior has changed (<: seen, >: now)"
  exit 1
fi
