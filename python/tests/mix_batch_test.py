"""`transform: mix_batch` beside the definition of torchvision's transforms.v2 (MixUp, CutMix),
written with torch, on the same draws."""

import math
import pathlib
import sys
import tempfile
import unittest

import brigade
from draws import Draws
import graphs  # noqa: F401, it silences what is logged

try:
    import numpy
    import torch
except ImportError as missing:
    print(f"skipped: {missing} (python3-torch)")
    sys.exit(77)

SEED, COUNT, BATCH, CLASSES = 5, 64, 8, 10


def beta(draws, alpha):
    if alpha > 1:
        def gamma():
            d = alpha - 1 / 3
            c = 1 / math.sqrt(9 * d)
            while True:
                x = draws.normal()
                v = (1 + c * x) ** 3
                u = 1 - draws.uniform()
                if v > 0 and math.log(u) < x * x / 2 + d - d * v + d * math.log(v):
                    return d * v
        x = gamma()
        return x / (x + gamma())
    while True:
        x = math.log(1 - draws.uniform()) / alpha
        y = math.log(1 - draws.uniform()) / alpha
        larger = max(x, y)
        total = larger + math.log(math.exp(x - larger) + math.exp(y - larger))
        if total <= 0:
            return math.exp(x - total)


def mixup(images, labels, draws, alpha):
    share = beta(draws, alpha)
    rolled = images.roll(1, 0).mul(1 - share)
    return (images.mul(share).add(rolled),
            labels.mul(share).add(labels.roll(1, 0).mul(1 - share)))


def cutmix(images, labels, draws, alpha):
    share = beta(draws, alpha)
    height, width = images.shape[-2:]
    middle_x, middle_y = draws.below(width), draws.below(height)
    half = 0.5 * math.sqrt(1 - share)
    wide, high = int(half * width), int(half * height)
    x1, y1 = max(middle_x - wide, 0), max(middle_y - high, 0)
    x2, y2 = min(middle_x + wide, width), min(middle_y + high, height)
    images = images.clone()
    images[..., y1:y2, x1:x2] = images.roll(1, 0)[..., y1:y2, x1:x2]
    share = 1 - (x2 - x1) * (y2 - y1) / (width * height)
    return images, labels.mul(share).add(labels.roll(1, 0).mul(1 - share))


def copies(batches):
    return [(batch["image"].clone(), batch["label"].clone()) for batch in batches]


class MixBatchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        random = numpy.random.default_rng(1)
        self.images = random.integers(0, 256, (COUNT, 12, 14, 3)).astype("u1")
        self.labels = random.integers(0, CLASSES, COUNT)

    def loader(self, params, numbers=None, replicas=1, shuffle=False):
        files = {"image": str(self.folder / "i.npy"), "label": str(self.folder / "l.npy")}
        numpy.save(files["image"], self.images)
        numpy.save(files["label"], self.labels)
        stages = {
            "pictures": {"producer": "npy", "shuffle": shuffle, "params": {"files": files}},
            "augment": {"transform": "augment", "from": "pictures", "batch": BATCH,
                        "params": numbers or {}},
            "mix": {"transform": "mix_batch", "from": "augment", "replicas": replicas,
                    "batch": BATCH, "params": {"classes": CLASSES, **params}},
            "train": {"consumer": "application", "from": "mix"}}
        return brigade.Loader({"seed": SEED, "epochs": 2, "stages": stages}, tensors="torch")

    def batches(self, *arguments, **named):
        """Of the first epoch."""
        with self.loader(*arguments, **named) as loader:
            return copies(loader)

    def check(self, params, reference, numbers=None, off=1e-6):
        channels_last = (numbers or {}).get("layout") != "CHW"
        plain = self.batches({}, numbers)
        for at, (found, known) in enumerate(zip(self.batches(params, numbers), plain)):
            images, labels = known[0].float(), known[1]
            if channels_last:
                images = images.permute(0, 3, 1, 2)
            images, labels = reference(images, labels, Draws(SEED, "mix", BATCH * at))
            if channels_last:
                images = images.permute(0, 2, 3, 1)
            self.assertEqual(found[0].dtype, known[0].dtype)
            torch.testing.assert_close(found[0].float(), images, rtol=off, atol=off)
            torch.testing.assert_close(found[1], labels)

    def test_batches_are_mixed_as_torchvision_mixes_them(self):
        for name, mix in (("mixup", mixup), ("cutmix", cutmix)):
            for alpha in (0.2, 1.0, 3.0):
                def reference(images, labels, draws):
                    return mix(images, labels, draws, alpha)
                self.check({name: alpha}, reference, off=0.501)
                for layout in ("CHW", "HWC"):
                    for dtype, off in (("f32", 1e-6), ("f16", 1e-3), ("bf16", 1e-2)):
                        self.check({name: alpha}, reference, {"dtype": dtype, "layout": layout,
                                                           "mean": [0.5]}, off)

    def test_a_batch_is_mixed_one_way_or_the_other_or_not(self):
        seen = set()

        def reference(images, labels, draws):
            if not draws.chance(0.7):
                seen.add("not")
                return images, labels
            if draws.chance(0.4):
                seen.add("cutmix")
                return cutmix(images, labels, draws, 1.0)
            seen.add("mixup")
            return mixup(images, labels, draws, 0.2)
        self.check({"p": 0.7, "mixup": 0.2, "cutmix": 1.0, "cutmix_share": 0.4}, reference,
                   {"dtype": "f32"})
        self.assertEqual(len(seen), 3)

    def test_labels_are_smoothed_as_torch_smooths_them(self):
        found = torch.cat([labels for _, labels in self.batches({"smoothing": 0.1})])
        scores = torch.randn(COUNT, CLASSES)
        loss = torch.nn.functional.cross_entropy
        torch.testing.assert_close(
            loss(scores, found), loss(scores, torch.from_numpy(self.labels), label_smoothing=0.1))

    def test_replicas_do_not_change_what_is_drawn(self):
        params = {"mixup": 0.4, "cutmix": 1.0, "p": 0.8}
        one, three = (self.batches(params, replicas=count, shuffle=True) for count in (1, 3))
        for a, b in zip(one, three):
            self.assertTrue((a[0] == b[0]).all() and (a[1] == b[1]).all())

    def test_a_resumed_run_mixes_what_is_left_as_it_would_have_been(self):
        params = {"mixup": 0.4, "cutmix": 1.0}
        with self.loader(params, shuffle=True) as loader:
            first, whole = copies(loader), copies(loader)
        self.assertFalse((first[0][1] == whole[0][1]).all(), "each epoch draws anew")
        with self.loader(params, shuffle=True) as loader:
            copies(loader)
            for at, _ in enumerate(loader):
                if at == 2:
                    state = loader.state_dict()
                    break
        with self.loader(params, replicas=2, shuffle=True) as loader:
            loader.load_state_dict(state)
            rest = copies(loader)
        self.assertEqual(len(rest), len(whole) - 3)
        for a, b in zip(rest, whole[3:]):
            self.assertTrue((a[0] == b[0]).all() and (a[1] == b[1]).all())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
