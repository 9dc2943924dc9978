"""Two modules see the same inputs, each in a process of its own, and are combined.

    python3 parallel_forward.py
"""

import pathlib
import sys
import warnings

import brigade
import torch

warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
GRAPH = pathlib.Path(__file__).with_name("parallel_forward.yaml")


def make_module(seed):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 8))


@brigade.stage(inputs={"data": "f32[256]"}, outputs={"y": "f32[8]"})
class Forward:
    def __init__(self, worker, seed):
        torch.set_num_threads(worker.threads)
        self.module = make_module(seed)

    def __call__(self, data):
        with torch.inference_mode():
            return self.module(torch.from_numpy(data))  # the graph's memory, which both read


def main():
    alone = [make_module(1), make_module(2)]
    samples, furthest = 0, 0.0
    with brigade.open(GRAPH, tensors="torch") as run, torch.inference_mode():
        for batch in run["both"]:
            combined = (batch["first.y"] + batch["second.y"]) / 2
            inputs = batch["inputs.data"].clone()
            expected = sum(module(inputs) for module in alone) / 2  # in one process
            furthest = max(furthest, (combined - expected).abs().max().item())
            samples += batch.size
    print(f"{samples} samples through two modules, at most {furthest:.0e} from one process")
    return samples == 2000 and furthest < 1e-5


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
