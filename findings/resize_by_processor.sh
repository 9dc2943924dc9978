#!/usr/bin/env bash
# torchvision 0.29.2 with torch 2.15.0 on x86-64 with AVX2: resize() of u8 images with antialias.
# Guess: pixels are the same whatever vector instructions the processor has.
# Seen: with ATEN_CPU_CAPABILITY=default, which a processor without AVX2 uses, some values are
# one level apart.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
  torchvision==0.29.2 torch==2.15.0 numpy==2.4.6
cat >"$folder/program.py" <<'PY'
import os, subprocess, sys
ONE = """
import sys, torch
from torchvision.transforms.v2 import functional
torch.manual_seed(0)
image = torch.randint(0, 256, (3, 375, 500), dtype=torch.uint8)
resized = functional.resize(image, [224, 224], antialias=True)
sys.stdout.buffer.write(resized.numpy().tobytes())
"""
one, other = (subprocess.run([sys.executable, "-W", "ignore", "-c", ONE], check=True,
                             stdout=subprocess.PIPE,
                             env={**os.environ, "ATEN_CPU_CAPABILITY": level}).stdout
              for level in ("avx2", "default"))
apart = [abs(a - b) for a, b in zip(one, other)]
print("values that differ:", any(apart), "by at most", max(apart))
PY
cat >"$folder/seen" <<'SEEN'
values that differ: True by at most 1
SEEN
cd "$folder"
if env/bin/python -W ignore program.py | diff seen -; then
  echo "as seen"
else
  echo "the behavior has changed (<: seen, >: now)"
  exit 1
fi
