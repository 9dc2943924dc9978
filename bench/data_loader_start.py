"""The first batch of brigade.DataLoader and whole short epochs beside torch's, in turns, in one
program: two workers, without persistent_workers, so that each epoch starts them. `small`: a dataset
of 64 samples. `paths`: the same with 1.28 million paths, which a fork has to copy. `server`:
workers of the server, whose imports are made before.
"""

import json
import os
import subprocess

PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's torch

PROGRAM = """
import json, statistics, sys, time
import torch, brigade
what, turns = sys.argv[1], int(sys.argv[2])
torch.mm(torch.rand(500, 500), torch.rand(500, 500))  # the threads of its pools have begun

class Dataset(torch.utils.data.Dataset):
    paths = [f"/data/train/n{i // 1300:08}/{i:012}.jpeg" for i in range(1_280_000)] \\
        if what == "paths" else []
    def __len__(self): return 64
    def __getitem__(self, i): return torch.full((4,), float(i + len(self.paths)))

context = "spawn" if what == "server" else None
loaders = {"torch": torch.utils.data.DataLoader(Dataset(), 8, num_workers=2),
           "brigade": brigade.DataLoader(Dataset(), 8, num_workers=2,
                                         multiprocessing_context=context)}
def epoch(loader):
    began = time.perf_counter()
    iterator = iter(loader)
    next(iterator)
    first = time.perf_counter() - began
    for _ in iterator: pass
    return first, time.perf_counter() - began

for loader in loaders.values():
    epoch(loader)
seen = [{name: epoch(loaders[name]) for name in sorted(loaders, reverse=turn % 2)}
        for turn in range(turns)]
figures = {}
for i, key in enumerate(("first_batch", "epoch")):
    for name in loaders:
        figures[f"{key}_ms_{name}"] = statistics.median(1e3 * turn[name][i] for turn in seen)
    figures[f"{key}_over_torch"] = statistics.median(
        turn["brigade"][i] / turn["torch"][i] for turn in seen)
print(json.dumps(figures))
"""


def run(context):
    package = context.python_package(PYTHON, "torch", "cloudpickle")
    figures = {"target_first_batch_over_torch": 1.2, "target_epoch_over_torch": 1.1}
    for what in ("small", "paths", "server"):
        out = subprocess.run(
            [PYTHON, "-c", PROGRAM, what, "3" if context.smoke else "21"], check=True, text=True,
            stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(package)}).stdout
        figures |= {f"{what}_{key}": value for key, value in json.loads(out).items()}
    return figures
