"""Patterns of docs/PATTERNS.md, in turns: two modules on the same inputs in two processes beside
both in one; and replicas whose library starts a thread for each core beside the budget's default.

The modules are LibTorch's, as TorchScript has them, with one thread each, in stages in Python; the
seconds are those of a run from its first sample on.
"""

import os
import pathlib
import statistics
import tempfile

from graph_runs import run_graph

CORES = len(os.sched_getaffinity(0))
STAGES = """
import brigade, torch

def module(seed, width):
    torch.manual_seed(seed)
    return torch.jit.script(torch.nn.Sequential(
        torch.nn.Linear(256, width), torch.nn.ReLU(), torch.nn.Linear(width, 8)).eval())

@brigade.stage(inputs={"data": "f32[256]"}, outputs={"y": "f32[8]"})
class Modules:
    def __init__(self, worker, seeds, width):
        torch.set_num_threads(worker.threads)
        self.modules = [module(int(seed), int(width)) for seed in seeds.split()]
    def __call__(self, data):
        with torch.inference_mode():
            numbers = torch.from_numpy(data)
            return sum(module(numbers) for module in self.modules)

numbers = torch.ones(1 << 18)

@brigade.stage(inputs={"data": "f32[256]"}, outputs={"y": "f32[8]"})
class Team:  # as many threads as the environment says
    def __call__(self, data):
        for _ in range(8):
            torch.exp(numbers)
        return torch.zeros(len(data), 8)
"""
NUMBERS = """
stages:
  images:
    producer: synthetic
    params: {{count: {count}, shape: [256], dtype: f32, fill: random}}
    batch: 64
"""
STAGE = """
  {name}:
    transform: python
    from: images
    drop: data
    batch: 64
    params: {{call: "{stages}"{params}}}
{more}"""
COUNT = "\n  count: {{consumer: count, from: {sources}{join}}}\n"


def forward(context, stages, apart, batches, width) -> float:
    """Seconds through both modules."""
    ones = [("first", "1"), ("second", "2")] if apart else [("both", "1 2")]
    yaml = NUMBERS.format(count=64 * batches)
    for name, seeds in ones:
        yaml += STAGE.format(name=name, stages=f"{stages}:Modules", more="",
                             params=f', seeds: "{seeds}", width: {width}')
    sources = ", ".join(name for name, _ in ones)
    yaml += COUNT.format(sources=f"[{sources}]", join=", join: zip" if apart else "")
    return run_graph(context, yaml)["seconds"]


def team(context, stages, crowded, batches) -> float:
    """Seconds of two replicas for each core, with so many threads each."""
    more = f"    replicas: {2 * CORES}\n"
    if crowded:
        more += "    env: {" + ", ".join(f"{name}: {CORES}" for name in
                                         ("OMP_NUM_THREADS", "MKL_NUM_THREADS")) + "}\n"
    yaml = NUMBERS.format(count=64 * batches) + STAGE.format(
        name="work", stages=f"{stages}:Team", params="", more=more)
    return run_graph(context, yaml + COUNT.format(sources="work", join=""))["seconds"]


def in_turns(turns, one, other) -> dict:
    """The ratio of one()'s seconds to other()'s, of runs that follow each other."""
    ratios, seconds = [], ([], [])
    for turn in range(turns):
        taken = {}
        for which in ((one, other) if turn % 2 == 0 else (other, one)):
            taken[which] = which()
        seconds[0].append(taken[one])
        seconds[1].append(taken[other])
        ratios.append(taken[one] / taken[other])
    return {"ratio": statistics.median(ratios), "min": min(ratios), "max": max(ratios),
            "turns": turns, "seconds": [statistics.median(times) for times in seconds]}


def run(context):
    python = "/usr/bin/python3"  # Debian's, which has Debian's torch
    if os.system(f"{python} -c 'import torch, numpy' 2>/dev/null") != 0:
        raise context.Skip("torch or NumPy is not installed (python3-torch)")
    os.environ |= {"PYTHONPATH": str(context.build / "python"), "BRIGADE_PYTHON": python}
    turns, batches, width = (1, 20, 64) if context.smoke else (9, 600, 2048)
    with tempfile.TemporaryDirectory() as folder:
        stages = pathlib.Path(folder) / "stages.py"
        stages.write_text(STAGES)
        return {
            "cores": CORES,
            "two_modules_in_one_process_over_two": {
                **in_turns(turns, lambda: forward(context, stages, False, batches, width),
                           lambda: forward(context, stages, True, batches, width)),
                "target": 1.7},
            "a_thread_per_core_in_each_replica_over_the_default": in_turns(
                min(turns, 5), lambda: team(context, stages, True, min(batches, 40)),
                lambda: team(context, stages, False, min(batches, 40))),
        }
