"""Loops of Python: what a batch costs beside the loop's own work, its production included; what
next() alone takes where the batch is there; samples per second of Fashion-MNIST by a graph, the
time to its first batch (imports included) and the memory of all processes, beside torch's
DataLoader over the same images in the same run; and photographs (bench/images.py), read by a loop
and by `brigade run` in turns, from the first batch on, with the memory of all processes.

DataLoader gets a dataset that does the same to an image (pad, random crop, flip) with torch's own
functions, and a worker per core. Both loops ask for their tensors and do nothing with them.
"""

import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

from graph_runs import FASHION_MNIST, run_graph
from images import GRAPH, memory_of, photographs

PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's torch

PER_BATCH = """
import json, sys, time, brigade
batches = int(sys.argv[1])
graph = {"stages": {"n": {"producer": "synthetic", "params": {"count": batches, "shape": [256]},
                          "batch": 1, "buffers": 256},
                    "train": {"consumer": "application", "from": "n"}}}
with brigade.Loader(graph, tensors=sys.argv[2]) as loader:
    next(iter(loader))
    for _ in loader:  # the processes have started, the code is warm
        pass
    started = time.perf_counter()
    for batch in loader:
        batch["data"]
    print(json.dumps(1e6 * (time.perf_counter() - started) / batches))
"""

NEXT = """
import json, statistics, sys, time, brigade
graph = {"stages": {"n": {"producer": "synthetic", "params": {"count": 10_000_000, "shape": [256]},
                          "batch": 1, "buffers": 256},
                    "train": {"consumer": "application", "from": "n"}}}
with brigade.Loader(graph, tensors=sys.argv[2]) as loader:
    batches, taken = iter(loader), []
    for _ in range(int(sys.argv[1])):
        time.sleep(0.002)  # they are there
        for _ in range(20):
            started = time.perf_counter_ns()
            batch = next(batches)
            taken.append(time.perf_counter_ns() - started)
            del batch
    print(json.dumps(statistics.median(taken) / 1e3))
"""

GRAPH_LOOP = """
import json, sys, time
began = time.perf_counter()
import brigade
first = None
with brigade.Loader("configs/fashion_mnist.yaml", "augment", tensors="numpy") as loader:
    for batch in loader:
        first = first or time.perf_counter() - began
    samples, started = 0, time.perf_counter()
    for _ in range(int(sys.argv[1])):
        for batch in loader:
            batch["image"], batch["label"]
            samples += batch.size
    print(json.dumps([samples / (time.perf_counter() - started), first]))
"""

DATALOADER_LOOP = """
import gzip, json, os, sys, time
began, first = time.perf_counter(), None
import numpy, torch
folder, epochs = sys.argv[2], int(sys.argv[1])
def read(name, skip):
    with gzip.open(f"{folder}/{name}") as file:
        return numpy.frombuffer(file.read()[skip:], numpy.uint8)
class Images(torch.utils.data.Dataset):
    images = torch.from_numpy(read("train-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28).copy())
    labels = read("train-labels-idx1-ubyte.gz", 8)
    def __len__(self):
        return len(self.labels)
    def __getitem__(self, i):
        image = torch.nn.functional.pad(self.images[i], (2, 2, 2, 2))
        y, x, flip = torch.randint(0, 5, (3,)).tolist()
        image = image[y:y + 28, x:x + 28]
        return (image.flip(1) if flip < 3 else image), int(self.labels[i])
loader = torch.utils.data.DataLoader(Images(), 256, shuffle=True, num_workers=os.cpu_count(),
                                     persistent_workers=True)
for batch in loader:
    first = first or time.perf_counter() - began
samples, started = 0, time.perf_counter()
for _ in range(epochs):
    for image, label in loader:
        samples += len(label)
print(json.dumps([samples / (time.perf_counter() - started), first]))
"""


PHOTOGRAPHS_LOOP = """
import json, sys, time
began = time.perf_counter()
import brigade
with brigade.Loader(sys.argv[2], "decode", tensors="numpy",
                    epochs=int(sys.argv[1])) as loader:
    samples = started = 0
    for _ in range(int(sys.argv[1])):
        for batch in loader:
            if not started:
                started, first = time.perf_counter(), batch.size
            batch["image"]
            samples += batch.size
    print(json.dumps({"images_per_second": (samples - first) / (time.perf_counter() - started),
                      "first_batch_seconds": started - began}))
"""


def from_the_first_batch_on(context, folder, epochs: int) -> dict:
    figures = run_graph(context, GRAPH.format(root=folder, epochs=epochs, quality="antialias",
                                              replicas=os.cpu_count()))
    first, samples = figures["first_sample_seconds"], figures["samples"]
    seconds = samples / figures["samples_per_second"] - first
    batch = min(256, samples // epochs)
    return {"images_per_second": (samples - batch) / seconds, "first_batch_seconds": first}


def memory_while(context, package, program, *arguments, seconds=3) -> dict:
    """Of a loop and its workers, in the middle of it."""
    process = subprocess.Popen([PYTHON, "-c", program, *map(str, arguments)], cwd=context.source,
                               env={**os.environ, "PYTHONPATH": str(package)})
    try:
        time.sleep(0.5 if context.smoke else seconds)
        return memory_of(process.pid)
    finally:
        process.kill()
        process.wait()


def measure_photographs(context, measure, package) -> dict:
    folder, kind = photographs(context, 40 if context.smoke else 1000)
    rounds, epochs = (1, 2) if context.smoke else (7, 12)
    with tempfile.TemporaryDirectory() as temporary:
        graph = pathlib.Path(temporary) / "graph.yaml"
        graph.write_text(GRAPH.format(root=folder, epochs=1, quality="antialias",
                                      replicas=os.cpu_count()))
        measure(PHOTOGRAPHS_LOOP, 1, graph)  # warms the page cache
        turns = [(measure(PHOTOGRAPHS_LOOP, epochs, graph),
                  from_the_first_batch_on(context, folder, epochs)) for _ in range(rounds)]
        memory = memory_while(context, package, PHOTOGRAPHS_LOOP, 1000, graph)
    figures = {"files": kind, "memory": memory, "target_over_brigade_run": 0.97}
    for key in ("images_per_second", "first_batch_seconds"):
        figures[key] = statistics.median(loop[key] for loop, _ in turns)
        figures[f"{key}_brigade_run"] = statistics.median(alone[key] for _, alone in turns)
    figures["over_brigade_run"] = statistics.median(
        loop["images_per_second"] / alone["images_per_second"] for loop, alone in turns)
    return figures


def run(context):
    package = context.python_package(PYTHON)

    def measure(program, *arguments):
        done = subprocess.run([PYTHON, "-c", program, *map(str, arguments)], check=True, text=True,
                              stdout=subprocess.PIPE, cwd=context.source,
                              env={**os.environ, "PYTHONPATH": str(package)})
        return json.loads(done.stdout)

    repeats, batches = (1, 2_000) if context.smoke else (5, 100_000)
    figures = {"target_us_per_next": 10}
    for kind in ("dlpack", "numpy"):
        figures[f"us_per_batch_{kind}"] = statistics.median(
            measure(PER_BATCH, batches, kind) for _ in range(repeats))
        figures[f"us_per_next_{kind}"] = statistics.median(
            measure(NEXT, 10 if context.smoke else 300, kind) for _ in range(repeats))
    if context.program("make_photographs").exists():
        figures["photographs"] = measure_photographs(context, measure, package)
    if not FASHION_MNIST.exists():
        return figures
    graph, dataloader = [], []
    for _ in range(repeats):  # in turns
        graph.append(measure(GRAPH_LOOP, 1 if context.smoke else 20))
        if not context.smoke and subprocess.run([PYTHON, "-c", "import torch"], check=False,
                                                capture_output=True).returncode == 0:
            dataloader.append(measure(DATALOADER_LOOP, 1, FASHION_MNIST))
    def median(runs, which):
        return statistics.median(run[which] for run in runs)

    figures["samples_per_second_by_a_graph"] = median(graph, 0)
    figures["first_batch_seconds_by_a_graph"] = median(graph, 1)
    figures["memory_by_a_graph"] = memory_while(context, package, GRAPH_LOOP, 100_000)
    figures["target_samples_per_second_by_a_graph"] = 1_000_000
    if dataloader:
        figures["samples_per_second_dataloader"] = median(dataloader, 0)
        figures["first_batch_seconds_dataloader"] = median(dataloader, 1)
        figures["memory_dataloader"] = memory_while(context, package, DATALOADER_LOOP, 100_000,
                                                    FASHION_MNIST, seconds=10)
        figures["over_dataloader"] = statistics.median(
            mine[0] / torch[0] for mine, torch in zip(graph, dataloader))
    return figures
