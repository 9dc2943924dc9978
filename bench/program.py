"""Programs behind a graph: next() and letting go of a ready batch, small and large; and the demo's
training in a program's own loop, beside the same training by torch_classifier, in turns.

Both trainings end with the same counts and, to six digits, the same losses, or the benchmark fails:
on some processors LibTorch's sums differ in their last bit between two processes. Compared are the
loops, from the moment at which all processes have opened, and beside them the whole commands: each
worker of a program that links LibTorch loads it, where those of `brigade` do not.
"""

import json
import math
import os
import statistics
import subprocess
import time

from graph_runs import FASHION_MNIST

GRAPH = "configs/fashion_mnist.yaml"


def spread(values) -> dict:
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def next_and_release(context) -> dict:
    runs = 1 if context.smoke else 9
    done = subprocess.run([str(context.program("program_bench")), str(runs)], check=True, text=True,
                          stdout=subprocess.PIPE, timeout=600)
    figures = {f"of_{size}": spread(times) for size, times in json.loads(done.stdout).items()}
    return {**figures, "target": 1000}


def train(context, by_application, epochs, limit) -> tuple:
    """What is reported of the last epoch, and seconds: of the loop, of the whole command, and of
    all cores in the whole command."""
    command = [str(context.program("program_training")), GRAPH, str(epochs), str(limit)]
    if not by_application:
        command = [str(context.brigade), "run", GRAPH, "--quiet", "--summary", "-",
                   "--set", f"epochs={epochs}", "--set", "stages.train.device=cpu",
                   "--limit", str(limit)]
    before, started = os.times(), time.monotonic()
    done = subprocess.run(command, check=True, cwd=context.source, stdout=subprocess.PIPE,
                          timeout=900, text=True)
    seconds, after = time.monotonic() - started, os.times()
    reported, printed = (done.stdout.split("\n", 1) if by_application else (None, done.stdout))
    summary = json.loads(printed)
    return json.loads(reported) if reported else summary["results"]["train"], {
        "loop": summary["seconds"],
        "whole_command": seconds,
        "cpu_of_whole_command": sum(getattr(after, key) - getattr(before, key)
                                    for key in ("children_user", "children_system"))}


def same_training(one, other) -> bool:
    return one.keys() == other.keys() and all(
        math.isclose(value, other[name], rel_tol=1e-6) for name, value in one.items())


def training(context) -> dict:
    epochs, limit, turns = (1, 512, 1) if context.smoke else (2, 10_000, 7)
    found, seconds = {}, {True: [], False: []}
    for turn in range(turns):
        for by_application in (True, False) if turn % 2 == 0 else (False, True):
            found[by_application], taken = train(context, by_application, epochs, limit)
            seconds[by_application].append(taken)
        if not same_training(found[True], found[False]):
            raise RuntimeError(f"not the same training: {found[True]}, {found[False]}")
    samples = found[True]["samples"]
    rates = {name: samples / statistics.median(one["loop"] for one in seconds[by_application])
             for name, by_application in (("by_application", True), ("by_torch_classifier", False))}
    ratios = {key: spread([mine[key] / other[key]
                           for mine, other in zip(seconds[True], seconds[False])])
              for key in seconds[True][0]}
    return {"samples": samples, "turns": turns, "samples_per_second": rates,
            "seconds_of_application_over_torch_classifier": ratios, "target_of_loop": 1.02}


def run(context):
    figures = {"next_and_release_ns": next_and_release(context)}
    if not context.program("program_training").exists():
        figures["training"] = "skipped: LibTorch was not found"
    elif not FASHION_MNIST.exists():
        figures["training"] = f"skipped: {FASHION_MNIST} is missing (package dataset-fashion-mnist)"
    else:
        figures["training"] = training(context)
    return figures
