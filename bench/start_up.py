"""From exec of `brigade run` to the first sample at a consumer, for 2 and 10 stages; `check`."""

import pathlib
import statistics
import subprocess
import tempfile
import time

from graph_runs import median_of, run_graph


def line(stages: int) -> str:
    text = "brigade: 1\nstages:\n  s0: {producer: synthetic, params: {count: 1000, shape: [4]}}\n"
    for i in range(1, stages - 1):
        text += f"  s{i}: {{transform: passthrough, from: s{i - 1}}}\n"
    return text + f"  end: {{consumer: count, from: s{stages - 2}}}\n"


def check_seconds(context, text: str, repeats: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        graph = pathlib.Path(folder) / "graph.yaml"
        graph.write_text(text)
        times = []
        for _ in range(repeats):
            started = time.monotonic()
            subprocess.run([str(context.brigade), "check", str(graph)], check=True,
                           stdout=subprocess.DEVNULL)
            times.append(time.monotonic() - started)
    return statistics.median(times)


def run(context):
    repeats = 1 if context.smoke else 15
    figures = {}
    for stages in (2, 10):
        runs = [run_graph(context, line(stages)) for _ in range(repeats)]
        figures[f"first_sample_seconds_{stages}_stages"] = median_of(runs, "first_sample_seconds")
        figures[f"whole_command_seconds_{stages}_stages"] = median_of(runs, "wall_seconds")
    figures["check_seconds_10_stages"] = check_seconds(context, line(10), repeats)
    demo = context.source / "configs" / "fashion_mnist.yaml"
    if demo.exists():
        try:
            figures["check_seconds_torch_graph"] = check_seconds(context, demo.read_text(), repeats)
        except subprocess.CalledProcessError:
            pass  # its data is not installed: the message is the command's
    figures["target_first_sample_seconds_10_stages"] = 0.3
    figures["target_check_seconds"] = 0.05
    return figures
