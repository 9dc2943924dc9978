"""Random numbers inside a stage, of NumPy's generators and of torch's, that belong to the sample.

    python3 seeding.py

Prints whether one, two and three replicas draw the same.
"""

import pathlib
import sys

import brigade
import torch

GRAPH = pathlib.Path(__file__).with_name("seeding.yaml")


@brigade.stage(outputs={"of_numpy": "f64[3]", "of_torch": "f32[3]"})
def noise(rng, sample):  # rng: numpy's generator, made of the same seed
    of_torch = torch.Generator().manual_seed(sample.seed())
    return rng.random(3), torch.rand(3, generator=of_torch)


def draws(replicas):
    with brigade.open(GRAPH, set={"stages.noisy.replicas": replicas}, tensors="torch") as run:
        batches = [batch.clone() for batch in run["out"]]
    return [torch.cat([batch[name] for batch in batches]) for name in ("of_numpy", "of_torch")]


if __name__ == "__main__":
    one, two, three = map(draws, (1, 2, 3))
    same = all(torch.equal(a, b) and torch.equal(a, c) for a, b, c in zip(one, two, three))
    different = len({tuple(row) for row in one[1].tolist()})
    print(f"{different} samples with different numbers, the same for 1, 2 and 3 replicas: "
          f"{same}")
    sys.exit(0 if same and different == 1000 else 1)
