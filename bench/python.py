"""Loops of Python: what a batch costs beside the loop's own work, its production included; what
next() alone takes where the batch is there; and samples per second of Fashion-MNIST by a graph,
beside torch's DataLoader over the same images in the same run.

DataLoader gets a dataset that does the same to an image (pad, random crop, flip) with torch's own
functions, and a worker per core. Both loops ask for their tensors and do nothing with them.
"""

import json
import os
import statistics
import subprocess

from graph_runs import FASHION_MNIST

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
import json, sys, time, brigade
with brigade.Loader("configs/fashion_mnist.yaml", "augment", tensors="numpy") as loader:
    for batch in loader: pass
    samples, started = 0, time.perf_counter()
    for _ in range(int(sys.argv[1])):
        for batch in loader:
            batch["image"], batch["label"]
            samples += batch.size
    print(json.dumps(samples / (time.perf_counter() - started)))
"""

DATALOADER_LOOP = """
import gzip, json, os, sys, time
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
for batch in loader: pass
samples, started = 0, time.perf_counter()
for _ in range(epochs):
    for image, label in loader:
        samples += len(label)
print(json.dumps(samples / (time.perf_counter() - started)))
"""


def run(context):
    package = context.build / "python"
    if not (package / "brigade" / "_brigade.abi3.so").exists():
        raise context.Skip("the Python package is not built (python3-dev)")

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
    if not FASHION_MNIST.exists():
        return figures
    graph, dataloader = [], []
    for _ in range(repeats):  # in turns
        graph.append(measure(GRAPH_LOOP, 1 if context.smoke else 20))
        if not context.smoke and subprocess.run([PYTHON, "-c", "import torch"], check=False,
                                                capture_output=True).returncode == 0:
            dataloader.append(measure(DATALOADER_LOOP, 1, FASHION_MNIST))
    figures["samples_per_second_by_a_graph"] = statistics.median(graph)
    figures["target_samples_per_second_by_a_graph"] = 1_000_000
    if dataloader:
        figures["samples_per_second_dataloader"] = statistics.median(dataloader)
        figures["over_dataloader"] = statistics.median(
            mine / torch for mine, torch in zip(graph, dataloader))
    return figures
