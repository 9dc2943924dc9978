"""The ImageNet recipe over pictures that are decoded already: a random part of 500 x 375 resized to
224 x 224, flipped, colours changed, normalised to f16 in CHW; and some operations alone.
Milliseconds of one thread per picture of one `augment` replica, beside torchvision, Albumentations
and DALI on the CPU, in turns. BRIGADE_PEERS names an interpreter that has these (python3 unless
given); what it lacks is not measured, and said. Nothing is installed.
"""

import contextlib
import os
import pathlib
import statistics
import subprocess
import tempfile

from graph_runs import run_graph

GRAPH = """
brigade: 1
name: augment-bench
epochs: {epochs}
stages:
  pictures: {{producer: npy, batch: 16, params: {{files: {{image: {file}}}}}}}
  augment:
    {{transform: augment, from: pictures, batch: 64, params: {{operations: {operations}{numbers}}}}}
  count: {{consumer: count, from: augment, params: {{checksum: false}}}}
"""
NUMBERS = ", dtype: f16, layout: CHW, mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]"
JITTER = "{color_jitter: {brightness: 0.4, contrast: 0.4, saturation: 0.4, hue: 0.1}}"
# Name: operations, and whether numbers are made of the result; as in augment_peers.py.
RECIPES = {
    "imagenet": (
        f"[{{random_resized_crop: {{size: 224}}}}, random_horizontal_flip, {JITTER}]", True),
    "color_jitter": (f"[{JITTER}]", False),
    "gaussian_blur": ("[{gaussian_blur: {kernel_size: 23}}]", False),
    "random_rotation": ("[{random_rotation: {degrees: 30, interpolation: bilinear}}]", False),
    "rand_augment": ("[rand_augment]", False),
}
PICTURES = """
import sys, numpy
noise = numpy.random.default_rng(1).integers(0, 40, (int(sys.argv[2]), 375, 500, 3))
y, x = numpy.mgrid[0:375, 0:500]
periods = (20 + numpy.arange(len(noise)))[:, None, None, None]
waves = 107 + 107 * numpy.sin((y + 2 * x)[None, :, :, None] / periods + numpy.arange(3))
numpy.save(sys.argv[1], (waves + noise).clip(0, 255).astype("u1"))
"""
PEERS = {"torchvision": 3, "albumentations": 3, "dali": 2}  # how many times as fast is wanted


class Peer:
    """A process that works through recipes when asked."""

    def __init__(self, python, name, file):
        script = pathlib.Path(__file__).with_name("augment_peers.py")
        self.process = subprocess.Popen(
            [python, "-W", "ignore", script, name, file], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "NO_ALBUMENTATIONS_UPDATE": "1"})
        self.says = self.process.stdout.readline().strip() or "not measured: it ended at once"
        self.works = not self.says.startswith("not measured")

    def milliseconds(self, recipe, seconds):
        """Of a picture, on the processor; None: it has no such recipe."""
        self.process.stdin.write(f"{recipe} {seconds}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            raise RuntimeError(f"a peer ended: {self.says}")
        return None if answer == "none" else 1e3 * float(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


def ours(context, recipe, file, epochs):
    operations, numbers = RECIPES[recipe]
    summary = run_graph(context, GRAPH.format(epochs=epochs, file=file, operations=operations,
                                              numbers=NUMBERS if numbers else ""))
    stage = next(one for one in summary["stages"] if one["name"] == "augment")
    return {"ms": 1e3 * stage["busy"] / stage["samples"],
            "cpu_ms_of_all": 1e3 * summary["cpu_seconds"] / stage["samples"]}


def measure(context, recipe, peers, file, counts):
    """One recipe, in turns."""
    epochs, seconds, rounds = counts
    own, others = [], {name: [] for name in peers}
    for _ in range(rounds):
        own.append(ours(context, recipe, file, epochs))
        for name, peer in peers.items():
            if (found := peer.milliseconds(recipe, seconds)) is not None:
                others[name].append(found)
    figures = {key: statistics.median(one[key] for one in own) for key in own[0]}
    figures |= {"ms_least": min(one["ms"] for one in own), "ms_most": max(one["ms"] for one in own)}
    for name, found in others.items():
        if not found:
            continue
        ratios = [b / a["ms"] for a, b in zip(own, found)]
        figures[name] = {"ms": statistics.median(found), "least": min(found), "most": max(found),
                         "times": statistics.median(ratios), "times_least": min(ratios),
                         "times_most": max(ratios)}
        if recipe == "imagenet":
            figures[name]["times_wanted"] = PEERS[name]
    return figures


def run(context):
    python = os.environ.get("BRIGADE_PEERS", "python3")
    if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode != 0:
        raise context.Skip(f"{python} (BRIGADE_PEERS) lacks NumPy, which makes the pictures")
    count, epochs, seconds, rounds = (8, 1, 0.01, 1) if context.smoke else (64, 4, 0.5, 5)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        file = os.path.join(folder, "pictures.npy")
        subprocess.run([python, "-c", PICTURES, file, str(count)], check=True)
        peers = {name: Peer(python, name, file) for name in PEERS}
        for peer in peers.values():
            stack.callback(peer.close)
        figures = {"peers": {name: peer.says for name, peer in peers.items()}}
        working = {name: peer for name, peer in peers.items() if peer.works}
        for recipe in RECIPES:
            many = 5 * epochs if recipe == "imagenet" else epochs
            figures[recipe] = measure(context, recipe, working, file, (many, seconds, rounds))
    return figures
