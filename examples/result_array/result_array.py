"""Results in one array: each sample's goes to the element of its id. Whoever is killed meanwhile,
its successor works on the sample once more and writes the same.

    python3 result_array.py [SETTING ...]    of the graph, as after `--set`
"""

import pathlib
import sys

import brigade
import numpy

GRAPH = pathlib.Path(__file__).with_name("result_array.yaml")


@brigade.stage
class MeanOfEach:
    def __init__(self, worker):
        self.means = numpy.asarray(worker.shared("means"))

    def __call__(self, data, sample):
        self.means[sample.id] = data.mean()


def means_of_workers():
    with brigade.open(GRAPH, set=sys.argv[1:]) as run:
        means = numpy.asarray(run.shared("means"))
        run.wait()
    return means


def means_of_one_process():
    means = numpy.zeros(10_000, "f4")
    with brigade.Loader(GRAPH, "numbers", tensors="numpy") as loader:
        for batch in loader:
            means[batch.ids[0]] = batch["data"][0].mean()
    return means


def main():
    means, alone = means_of_workers(), means_of_one_process()
    print(f"{len(means)} means; the largest belongs to sample {means.argmax()}")
    print(f"equal to the result of one process: {numpy.array_equal(means, alone)}")
    return numpy.array_equal(means, alone)


if __name__ == "__main__":
    try:
        sys.exit(0 if main() else 1)
    except brigade.Error as error:
        sys.exit(str(error))
