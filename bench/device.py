"""Batches copied to a device while it computes; and what a GPU takes of each kind of memory."""

import statistics

NOT_MEASURED = "not measured"


def run(context):
    repeats = 1 if context.smoke else 15
    steps = context.google_benchmark_runs(
        "device", f"--benchmark_repetitions={repeats}",
        "--benchmark_enable_random_interleaving=true")
    return {"host": overlap(steps, "host"), "gpu": overlap(steps, "gpu"), **memory(context)}


def overlap(steps, device):
    """Both at once, as a share of the slower one alone: 1 is perfect."""
    kinds = {kind: [run for name, run in steps if f"/{device}_{kind}/" in name]
             for kind in ("copies", "computes", "both")}
    failed = next((run["error_message"] for runs in kinds.values() for run in runs
                   if "error_message" in run), None)
    if failed is not None:
        return f"{NOT_MEASURED}: {failed}"
    took = {kind: statistics.median(run["real_time"] for run in runs)
            for kind, runs in kinds.items()}
    return {"overlap": max(took["copies"], took["computes"]) / took["both"],
            "bytes_per_second": statistics.median(run["bytes_per_second"]
                                                  for run in kinds["copies"])}


def memory(context):
    """Bytes per second to a GPU from each kind of memory, and pinned."""
    figures = {}
    for name, run in context.google_benchmark_runs("gpu", "--benchmark_filter=copy_|register_"):
        name = name.removesuffix("/real_time")
        figures[name] = (f"{NOT_MEASURED}: {run['error_message']}" if "error_message" in run else
                         run["bytes_per_second"])
    registered, pinned = figures["copy_from_registered"], figures["copy_from_pinned"]
    if not isinstance(registered, str) and not isinstance(pinned, str):
        figures["registered_of_pinned"] = registered / pinned
    return figures
