"""Two modules see the same inputs, each in a process of its own, and are combined.

    python3 parallel_forward.py [SETTING ...]    of the graph, as after `--set`
"""

import pathlib
import sys
import warnings

import brigade
import numpy
import torch

warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
GRAPH = pathlib.Path(__file__).with_name("parallel_forward.yaml")


def make_module(seed):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 8))


def place_of(data):
    """Where memory lies that processes share: the number of its file, and the offset there."""
    at = torch.from_numpy(data).data_ptr()
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        span, _, offset, _, file = line.split()[:5]
        begin, end = (int(edge, 16) for edge in span.split("-"))
        if begin <= at < end:
            return torch.tensor([int(file), at - begin + int(offset, 16)])
    return torch.zeros(2, dtype=torch.int64)  # in no file


@brigade.stage(inputs={"data": "f32[256]"}, outputs={"y": "f32[8]", "place": "i64[2]"})
class Forward:
    def __init__(self, worker, seed):
        torch.set_num_threads(worker.threads)
        self.module = make_module(seed)

    def __call__(self, data):
        with torch.inference_mode():
            y = self.module(torch.from_numpy(data))  # the graph's memory, which both read
        return y, place_of(data).expand(len(data), 2)


def main():
    alone = [make_module(1), make_module(2)]
    samples, furthest, same = 0, 0.0, True
    with brigade.open(GRAPH, set=sys.argv[1:], tensors="torch") as run, torch.inference_mode():
        for batch in run["both"]:
            combined = (batch["first.y"] + batch["second.y"]) / 2
            inputs = batch["inputs.data"].clone()
            expected = sum(module(inputs) for module in alone) / 2  # in one process
            furthest = max(furthest, (combined - expected).abs().max().item())
            place = place_of(numpy.asarray(batch.tensor("inputs.data")))
            same &= all((batch[f"{name}.place"] == place).all() for name in ("first", "second"))
            samples += batch.size
    print(f"{samples} samples through two modules, at most {furthest:.0e} from one process")
    print(f"both modules and this program read the same memory: {same}")
    return samples == 2000 and furthest < 1e-5 and same


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
