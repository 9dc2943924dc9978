"""brigade.DataLoader beside torch's, over the same datasets with a worker per core, in turns.

`slices`: a dataset whose items are whole batches, slices of an array (256 x 784 floats), so that
only the way of a batch counts. `transforms`: 30,000 images of 28 x 28 (Fashion-MNIST's, where they
are) that torchvision pads, crops, flips and scales one by one, and default_collate() stacks.
`uneven`: batches of one, of which one in 50 takes 25 ms of CPU time and the others 0.5 ms, with
prefetch_factor 2 and 16, in order and (`any`) as they finish; `of_possible` is the share of what
as many processes as there are workers would make.

Of `transforms` two rates of the dataset's own code stand beside the loaders', its loop and nothing
else: in one process, times the cores (`of_possible`), and in as many processes at once as there are
cores (`of_processes`), which is what the machine really gives. All have one thread per process.
CPU time is that of all processes of a kind; a loader's share of it does not depend on what else
runs on the machine.
"""

import json
import os
import statistics
import subprocess

from graph_runs import FASHION_MNIST
from idle_cpu import cpu_seconds
from images import tree_of

PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's torch

PROGRAM = """
import gzip, json, sys, time
import numpy, torch, brigade
from PIL import Image
from torchvision import transforms
torch.set_num_threads(1)
kind, what, epochs, workers, file = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:5]), sys.argv[5]

class Slices(torch.utils.data.Dataset):
    data = numpy.random.rand(60000, 784).astype("float32")
    def __len__(self): return 60000 // 256
    def __getitem__(self, i): return self.data[256 * i:256 * (i + 1)]

class Transforms(torch.utils.data.Dataset):
    def __init__(self):
        read = gzip.open(file).read()[16:] if file else numpy.random.bytes(60000 * 784)
        self.images = numpy.frombuffer(read, numpy.uint8).reshape(-1, 28, 28)[:30000]
        self.transform = transforms.Compose([
            transforms.RandomCrop(28, padding=4), transforms.RandomHorizontalFlip(),
            transforms.ToTensor(), transforms.Normalize((0.286,), (0.353,))])
    def __len__(self): return len(self.images)
    def __getitem__(self, i): return self.transform(Image.fromarray(self.images[i])), i % 10

class Uneven(torch.utils.data.Dataset):
    def __len__(self): return 2000
    def __getitem__(self, i):
        until = time.thread_time() + (0.025 if i % 50 == 25 else 0.0005)
        while time.thread_time() < until: pass
        return torch.full((16,), float(i))

options, kind = {}, kind.split("_")
if what == "uneven":
    options = {"prefetch_factor": int(kind[1]), **({"in_order": False} if kind[2:] else {})}
kind = kind[0]
dataset, batch = {"slices": lambda: (Slices(), None), "transforms": lambda: (Transforms(), 256),
                  "uneven": lambda: (Uneven(), 1)}[what]()
def loop():
    for i in range(0, len(dataset), 256):
        samples = [dataset[j] for j in range(i, min(i + 256, len(dataset)))]
        torch.utils.data.default_collate(samples)
def epoch():
    for _ in loader: pass
if kind == "alone":
    epoch = loop
else:
    made = brigade.DataLoader if kind == "brigade" else torch.utils.data.DataLoader
    loader = made(dataset, batch, num_workers=workers, persistent_workers=True, **options)
epoch()  # the processes have started, the code is warm
print(flush=True)
input()
started = time.perf_counter()
for _ in range(epochs):
    epoch()
print(json.dumps([epochs * len(dataset), time.perf_counter() - started]), flush=True)
input()
"""


class Program:
    """One process of PROGRAM, and its workers."""

    def __init__(self, package, *arguments):
        self._process = subprocess.Popen(
            [PYTHON, "-c", PROGRAM, *map(str, arguments)], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(package)})

    def said(self):
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the program has ended with {self._process.wait()}")
        return line

    def begin(self):
        self._pids = tree_of(self._process.pid)
        self._before = sum(map(cpu_seconds, self._pids))
        self.go_on()

    def go_on(self):
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def end(self):
        """(samples, seconds, CPU seconds)"""
        samples, seconds = json.loads(self.said())
        used = sum(map(cpu_seconds, self._pids)) - self._before
        self.go_on()
        self._process.communicate()
        return samples, seconds, used


def measure(package, processes, *arguments) -> dict:
    programs = [Program(package, *arguments) for _ in range(processes)]
    for program in programs:
        program.said()
    for program in programs:
        program.begin()
    ended = [program.end() for program in programs]
    return {"per_second": sum(samples / seconds for samples, seconds, _ in ended),
            "cpu_us_each": 1e6 * sum(used for *_, used in ended) / sum(one[0] for one in ended)}


UNEVEN = ("torch_2", "brigade_2", "brigade_2_any", "torch_16", "brigade_16", "brigade_16_any")


def uneven(package, smoke, cores) -> dict:
    """Shares of what the workers' time allows."""
    turns = [{kind: measure(package, 1, kind, "uneven", 1, cores, "")["per_second"] for kind in
              UNEVEN} for _ in range(1 if smoke else 5)]
    possible = cores * 50 / (0.025 + 49 * 0.0005)
    return {f"uneven_of_possible_{kind}": statistics.median(turn[kind] / possible for turn in turns)
            for kind in UNEVEN} | {"target_uneven_of_possible_brigade_2_any": 0.9,
                                   "target_uneven_of_possible_brigade_2": 0.65,
                                   "target_uneven_of_possible_brigade_16": 0.8}


def run(context):
    package = context.python_package(PYTHON, "torchvision", "cloudpickle")
    cores = len(os.sched_getaffinity(0))
    images = FASHION_MNIST / "train-images-idx3-ubyte.gz"
    file = images if images.exists() else ""
    figures = {"cores": cores, "target_slices_over_torch": 5, "target_transforms_of_possible": 0.9}
    figures |= uneven(package, context.smoke, cores)
    for what, epochs in (("slices", 10), ("transforms", 1)):
        kinds = {"torch": ("torch", 1), "brigade": ("brigade", 1)}
        if what == "transforms":
            kinds = {"alone": ("alone", 1), "processes": ("alone", cores), **kinds}
        turns = []
        for _ in range(1 if context.smoke else 5):
            turns.append({name: measure(package, processes, kind, what,
                                        1 if context.smoke else epochs, cores, file)
                          for name, (kind, processes) in kinds.items()})

        def median(figure):
            return statistics.median(map(figure, turns))

        for name in kinds:
            for key in turns[0][name]:
                figures[f"{what}_{key}_{name}"] = median(lambda turn: turn[name][key])
        figures[f"{what}_over_torch"] = median(
            lambda turn: turn["brigade"]["per_second"] / turn["torch"]["per_second"])
        figures[f"{what}_over_torch_by_cpu"] = median(
            lambda turn: turn["torch"]["cpu_us_each"] / turn["brigade"]["cpu_us_each"])
        if what == "slices":
            continue
        for name in ("torch", "brigade"):
            figures[f"{what}_of_possible_{name}"] = median(
                lambda turn: turn[name]["per_second"] / cores / turn["alone"]["per_second"])
            figures[f"{what}_of_processes_{name}"] = median(
                lambda turn: turn[name]["per_second"] / turn["processes"]["per_second"])
            figures[f"{what}_of_possible_by_cpu_{name}"] = median(
                lambda turn: turn["alone"]["cpu_us_each"] / turn[name]["cpu_us_each"])
    return figures
