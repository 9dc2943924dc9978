"""Memory of a dataset's list of paths: brigade.shared() beside a Python list, in the workers of
torch's DataLoader and of brigade.DataLoader.

A program makes 1,281,167 paths of about 50 characters, as of ImageNet, and reads an epoch of them
with eight workers, which stay. The figure is the list's own: the PSS of the program and its workers
together (/proc/PID/smaps_rollup; a page of several processes counts once) less that of the same
program with ten paths, and its ratio to the same difference of one process without workers. The
list is made in the program, so what making it leaves behind counts.
"""

import os
import pathlib
import subprocess

from data_loader import PYTHON
from images import tree_of

PATHS, WORKERS = 1_281_167, 8

PROGRAM = """
import sys, time, warnings
import torch, brigade
warnings.simplefilter("ignore")  # torch has a view on the number of workers
kind, what, count, epoch, workers = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
torch.set_num_threads(1)

class Paths:
    def __init__(self):
        made = [f"/data/imagenet/train/n{i % 1000:08d}/n{i % 1000:08d}_{i}.JPEG"
                for i in range(count)]
        started = time.perf_counter()
        self.paths = brigade.shared(made) if what == "shared" else made
        self.seconds = time.perf_counter() - started
    def __len__(self): return epoch
    def __getitem__(self, i): return len(self.paths[i % count])

dataset = Paths()
if kind != "alone":
    made = brigade.DataLoader if kind == "brigade" else torch.utils.data.DataLoader
    loader = made(dataset, 1024, num_workers=workers, persistent_workers=True, collate_fn=sum)
    total = sum(loader)
picks = [i * 7919 % count for i in range(200000)]
started = time.perf_counter()
for i in picks:
    dataset.paths[i]
print(dataset.seconds, (time.perf_counter() - started) / len(picks), flush=True)
del picks
input()
"""


def pss_mb(pid: int) -> float:
    total = 0
    for each in tree_of(pid):
        for line in pathlib.Path(f"/proc/{each}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total / 1e3


def measure(package, *arguments) -> tuple:
    """(PSS in MB, seconds of shared(), seconds of an index)"""
    process = subprocess.Popen([PYTHON, "-c", PROGRAM, *map(str, arguments)], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env={**os.environ, "PYTHONPATH": str(package)})
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"the program has ended with {process.wait()}")
    made, picked = map(float, line.split())
    memory = pss_mb(process.pid)
    process.communicate("\n")
    return memory, made, picked


def run(context):
    package = context.python_package(PYTHON, "torch", "cloudpickle")
    paths, workers = (20_000, 2) if context.smoke else (PATHS, WORKERS)
    figures = {"paths": paths, "workers": workers, "wanted_shared_at_most": 1.15}
    programs = [("alone", "list"), ("brigade", "shared")] if context.smoke else [
        (kind, what) for kind in ("alone", "torch", "brigade") for what in ("list", "shared")]
    for kind, what in programs:
        memory, made, picked = measure(package, kind, what, paths, paths, workers)
        few, *_ = measure(package, kind, what, 10, paths, workers)
        own = figures[f"{kind}_{what}_mb"] = memory - few
        figures[f"{kind}_{what}_of_one_list"] = own / figures["alone_list_mb"]
        if kind == "alone":
            figures[f"{what}_index_us"] = 1e6 * picked
            if what == "shared":
                figures["shared_seconds_to_make"] = made
    return figures
