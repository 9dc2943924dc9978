"""Samples per second of graphs whose tasks are single samples of 8 bytes: what a task costs."""

from graph_runs import median_of, run_graph

GRAPH = """
brigade: 1
name: small-tasks-bench
stages:
  numbers: {{producer: synthetic, batch: 1, params: {{count: {samples}}}}}
{between}  count: {{consumer: count, from: {last}, params: {{checksum: false}}}}
"""
PASS = "  pass: {transform: passthrough, from: numbers, batch: 1}\n"


def run(context):
    samples, repeats = (20_000, 1) if context.smoke else (5_000_000, 5)
    figures = {}
    for name, between, last in (("two_stages", "", "numbers"), ("three_stages", PASS, "pass")):
        text = GRAPH.format(samples=samples, between=between, last=last)
        runs = [run_graph(context, text) for _ in range(repeats)]
        figures[name] = median_of(runs, "samples_per_second")
    return figures
