"""Samples per second of small samples: Fashion-MNIST, shuffled, pad + crop + flip, batches of 256.

The clock of `samples_per_second` includes the start of all processes and reading the gzipped files
once.
"""

import statistics

from graph_runs import FASHION_MNIST, median_of, run_graph

GRAPH = """
brigade: 1
name: fashion-mnist-bench
seed: 7
epochs: {epochs}
stages:
  images:
    producer: idx_images
    shuffle: true
    params: {{images: {data}/train-images-idx3-ubyte.gz, labels: {data}/train-labels-idx1-ubyte.gz}}
  augment:
    transform: augment_image
    from: images
    replicas: {replicas}
    params: {{pad: 2, crop: 28, flip: 0.5}}
    batch: 256
  count:
    consumer: count
    from: augment
    params: {{checksum: false}}
"""


def run(context):
    if not FASHION_MNIST.exists():
        raise context.Skip(f"{FASHION_MNIST} is missing (package dataset-fashion-mnist)")
    epochs, repeats = (2, 1) if context.smoke else (100, 5)
    figures = {}
    for replicas in (1, 2):
        text = GRAPH.format(data=FASHION_MNIST, epochs=epochs, replicas=replicas)
        runs = [run_graph(context, text) for _ in range(repeats)]
        figures[f"augment_replicas_{replicas}"] = median_of(runs, "samples_per_second")
        figures[f"cpu_ns_per_sample_{replicas}"] = statistics.median(
            r["cpu_seconds"] * 1e9 / r["samples"] for r in runs)
    best = max((figures[f"augment_replicas_{r}"] for r in (1, 2)), key=lambda f: f["median"])
    return {"samples_per_second": best["median"], "target_samples_per_second": 3_000_000,
            "torch_dataloader_samples_per_second_elsewhere": 29_800, **figures}
