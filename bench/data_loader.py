"""brigade.DataLoader beside torch's, over the same datasets with a worker per core, in turns.

`slices`: a dataset whose items are whole batches, slices of an array (256 x 784 floats), so that
only the way of a batch counts. `transforms`: images of 28 x 28 that are padded, cropped, flipped
and scaled one by one, so that only the dataset's own work should count: the rate that its code has
in one process alone, times the cores, is what there is to reach.
"""

import json
import os
import statistics
import subprocess

PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's torch

PROGRAM = """
import json, os, sys, time
import numpy, torch, brigade
torch.set_num_threads(1)

class Slices(torch.utils.data.Dataset):
    data = numpy.random.rand(60000, 784).astype("float32")
    def __len__(self): return 60000 // 256
    def __getitem__(self, i): return self.data[256 * i:256 * (i + 1)]

class Transforms(torch.utils.data.Dataset):
    images = torch.randint(0, 255, (20000, 28, 28), dtype=torch.uint8)
    def __len__(self): return len(self.images)
    def __getitem__(self, i):
        image = torch.nn.functional.pad(self.images[i], (2, 2, 2, 2))
        y, x, flip = torch.randint(0, 5, (3,)).tolist()
        image = image[y:y + 28, x:x + 28]
        return (image.flip(1) if flip < 3 else image).float().div(255).sub_(0.29).div_(0.35), i % 10

kind, what, epochs = sys.argv[1], sys.argv[2], int(sys.argv[3])
dataset, batch = (Slices(), None) if what == "slices" else (Transforms(), 256)
def epoch():
    if kind == "alone":
        for i in range(0, len(dataset), 256):
            samples = [dataset[j] for j in range(i, min(i + 256, len(dataset)))]
            torch.utils.data.default_collate(samples)
    else:
        for _ in loader: pass
if kind != "alone":
    made = brigade.DataLoader if kind == "brigade" else torch.utils.data.DataLoader
    loader = made(dataset, batch, num_workers=os.cpu_count(), persistent_workers=True)
    epoch()  # the processes have started
started = time.perf_counter()
for _ in range(epochs):
    epoch()
print(json.dumps(epochs * len(dataset) / (time.perf_counter() - started)))
"""


def run(context):
    package = context.build / "python"
    if not (package / "brigade" / "_brigade.abi3.so").exists():
        raise context.Skip("the Python package is not built (python3-dev)")
    if subprocess.run([PYTHON, "-c", "import torch, numpy, cloudpickle"], check=False,
                      capture_output=True).returncode != 0:
        raise context.Skip("python3-torch and python3-cloudpickle are not installed")

    def measure(kind, what, epochs):
        done = subprocess.run([PYTHON, "-c", PROGRAM, kind, what, str(epochs)], check=True,
                              text=True, stdout=subprocess.PIPE,
                              env={**os.environ, "PYTHONPATH": str(package)})
        return json.loads(done.stdout)

    repeats = 1 if context.smoke else 5
    figures = {"target_slices_over_torch": 5, "target_transforms_of_possible": 0.9}
    for what, epochs in (("slices", 20), ("transforms", 2)):
        rates = {"alone": [], "torch": [], "brigade": []}
        for _ in range(repeats):  # in turns
            for kind, found in rates.items():
                found.append(measure(kind, what, 1 if context.smoke else epochs))
        figures[f"{what}_per_second"] = statistics.median(rates["brigade"])
        figures[f"{what}_over_torch"] = statistics.median(
            mine / torch for mine, torch in zip(rates["brigade"], rates["torch"]))
        if what == "transforms":
            for kind in ("torch", "brigade"):
                figures[f"{what}_of_possible_{kind}"] = statistics.median(
                    mine / (os.cpu_count() * alone)
                    for mine, alone in zip(rates[kind], rates["alone"]))
    return figures
