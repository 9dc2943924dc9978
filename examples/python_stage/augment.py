"""Stages in Python: functions, and a class, that say what they read and write."""

import brigade
import numpy


@brigade.stage(outputs={"image": "u8[32, 32, 3]"})
class Noise:
    """A source: `len()` samples, of which it is asked for each by itself, in any order."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __call__(self, sample, rng):
        return rng.integers(0, 1 + sample.id % 256, (32, 32, 3), "u1")


@brigade.stage(inputs={"image": "u8[any, any, 3]"}, outputs={"image": "=image"})
def flip(image, rng, chance=0.5):
    """Returns what it writes. `rng` gives each sample its own numbers, whoever is asked."""
    return image[:, ::-1] if rng.random() < chance else image


@brigade.stage(
    inputs={"image": "u8[any, any, 3]"},
    outputs=lambda image: {"image": f"f32[{image.shape[2]}, {image.shape[0]}, {image.shape[1]}]"})
class Normalize:
    """Made once in each replica. It takes batches where the stage does, and writes in place."""

    def __init__(self, mean, std):
        self.mean = numpy.array(mean, "f4")[:, None, None]
        self.std = numpy.array(std, "f4")[:, None, None]

    def __call__(self, image, out):
        numpy.subtract(numpy.moveaxis(image, -1, -3) / numpy.float32(255), self.mean,
                       out=out.image)
        out.image /= self.std


@brigade.stage
def summary(image, worker, total=[0, 0.0]):
    """A consumer: nothing is below."""
    total[0] += len(image)
    total[1] += float(image.sum(dtype="f8"))
    worker.report("images", total[0])
    worker.report("mean", total[1] / total[0] / image[0].size)
