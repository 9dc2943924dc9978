"""Whole graphs for the benchmarks: writes a YAML, runs `brigade run` on it, reads the summary."""

import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

FASHION_MNIST = pathlib.Path("/usr/share/datasets/fashion-mnist")


def run_graph(context, yaml: str, *args: str) -> dict:
    """The summary of one run, plus `wall_seconds` and `cpu_seconds` of the whole command."""
    with tempfile.TemporaryDirectory() as folder:
        graph = pathlib.Path(folder) / "graph.yaml"
        graph.write_text(yaml)
        summary = pathlib.Path(folder) / "summary.json"
        before = os.times()
        started = time.monotonic()
        done = subprocess.run([str(context.brigade), "run", str(graph), "--quiet", "--summary",
                               str(summary), *args], capture_output=True, text=True, timeout=600)
        wall = time.monotonic() - started
        after = os.times()
        if done.returncode != 0:
            raise RuntimeError(f"brigade run failed with {done.returncode}: {done.stderr.strip()}")
        figures = json.loads(summary.read_text())
    figures["wall_seconds"] = wall
    figures["cpu_seconds"] = (after.children_user - before.children_user
                              + after.children_system - before.children_system)
    return figures


def median_of(runs, key):
    """Median and range of one figure over several runs."""
    values = sorted(run[key] for run in runs)
    return {"median": statistics.median(values), "min": values[0], "max": values[-1],
            "runs": len(values)}
