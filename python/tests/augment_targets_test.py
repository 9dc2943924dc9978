"""Masks, boxes and keypoints of `transform: augment`, on the draws of their picture: masks beside
torchvision's functions, points beside where dots of the picture go, boxes beside their corners."""

import pathlib
import sys
import tempfile
import unittest

import brigade
from draws import Draws, part_to_resize
import graphs  # noqa: F401, it silences what is logged

try:
    import numpy
    import torch
    from torchvision.transforms import functional as F
    from torchvision.transforms import InterpolationMode
except ImportError as missing:
    print(f"skipped: {missing} (python3-torchvision)")
    sys.exit(77)

SEED, COUNT, HEIGHT, WIDTH = 5, 24, 40, 52
NEAREST = InterpolationMode.NEAREST
FILL = 9


def flip(mask, draws):
    return F.hflip(mask) if draws.chance(0.5) else mask


def crop(mask, draws):
    mask = F.pad(mask, [4], FILL)
    y, x = draws.below(48 - 32 + 1), draws.below(60 - 32 + 1)
    return F.crop(mask, y, x, 32, 32)


def resized_crop(mask, draws):
    part = part_to_resize(draws, *mask.shape[1:])
    return F.resized_crop(mask, *part, [24, 28], NEAREST)


def affine(mask, draws):
    angle = draws.uniform(-20, 20)
    across, down = round(draws.uniform(-5.2, 5.2)), round(draws.uniform(-8, 8))
    scale = draws.uniform(0.7, 1.3)
    return F.affine(mask, angle, [across, down], scale, [draws.uniform(-9, 9), 0.0], NEAREST,
                    [float(FILL)])


def perspective(mask, draws):
    if not draws.chance(0.9):
        return mask
    near = [(draws.below(int(0.6 * 26) + 1), draws.below(int(0.6 * 20) + 1)) for _ in range(4)]
    start = [[0, 0], [51, 0], [51, 39], [0, 39]]
    end = [[x - a if x else a, y - b if y else b] for (x, y), (a, b) in zip(start, near)]
    return F.perspective(mask, start, end, NEAREST, [float(FILL)])


# Name: operations, and what torchvision makes of a mask with them.
MOVES = {
    "flip": (["random_horizontal_flip"], flip),
    "upside down": ([{"random_vertical_flip": {"p": 1}}], lambda mask, _: F.vflip(mask)),
    "pad": ([{"pad": {"padding": [1, 2, 3, 4]}}], lambda mask, _: F.pad(mask, [1, 2, 3, 4], FILL)),
    "center_crop": ([{"center_crop": {"size": [21, 33]}}],
                    lambda mask, _: F.center_crop(mask, [21, 33])),
    "random_crop": ([{"random_crop": {"size": 32, "padding": 4}}], crop),
    "resize": ([{"resize": {"size": [64]}}], lambda mask, _: F.resize(mask, [64], NEAREST)),
    "resize down": ([{"resize": {"size": [24, 31]}}],
                    lambda mask, _: F.resize(mask, [24, 31], NEAREST)),
    "random_resized_crop": ([{"random_resized_crop": {"size": [24, 28]}}], resized_crop),
    "rotation": ([{"random_rotation": {"degrees": 30}}],
                 lambda mask, draws: F.rotate(mask, draws.uniform(-30, 30), NEAREST, fill=[FILL])),
    "affine": ([{"random_affine": {"degrees": 20, "translate": [0.1, 0.2], "scale": [0.7, 1.3],
                                   "shear": 9}}], affine),
    "perspective": ([{"random_perspective": {"distortion_scale": 0.6, "p": 0.9}}], perspective),
    "flip, turn, cut": (
        ["random_horizontal_flip", "random_invert", {"random_rotation": {"degrees": 30}},
         {"center_crop": {"size": 30}}],
        lambda mask, draws: F.center_crop(F.rotate(
            invert(flip(mask, draws), draws), draws.uniform(-30, 30), NEAREST, fill=[FILL]), 30)),
    "erasing": ([{"random_erasing": {"p": 1}}], lambda mask, _: mask),
}


def invert(mask, draws):
    draws.chance(0.5)
    return mask


class AugmentTargetsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_stage(self, operations, targets, arrays, before=None):
        files = {}
        for name, array in arrays.items():
            files[name] = str(self.folder / f"{name}.npy")
            numpy.save(files[name], array)
        stages = {
            "pictures": {"producer": "npy", "params": {"files": files}},
            "augment": {"transform": "augment", "from": "pictures", "replicas": 2, "batch": 5,
                        "params": {"operations": operations, "targets": targets}},
            "train": {"consumer": "application", "from": "augment"}}
        if before:
            augment = stages["augment"]
            augment["transform"] = [before, {"augment": augment.pop("params")}]
        found = {name: [] for name in arrays}
        with brigade.Loader({"seed": SEED, "stages": stages}, tensors="numpy") as loader:
            for batch in loader:
                for name in arrays:
                    found[name] += [one.copy() for one in batch[name]]
        return found

    def test_masks_move_as_torchvision_moves_them(self):
        image = numpy.zeros((COUNT, HEIGHT, WIDTH, 3), "u1")
        values = numpy.random.default_rng(2).integers(10, 200, (COUNT, HEIGHT, WIDTH))
        for dtype in ("u1", "i4", "i8"):
            mask = values.astype(dtype)
            for name, (operations, reference) in MOVES.items():
                fill = 0 if name == "center_crop" else FILL
                found = self.run_stage(operations, [{"mask": {"fill": fill}}],
                                       {"image": image, "mask": mask})["mask"]
                warps = any(word in name for word in ("turn", "rot", "aff", "pers"))
                for sample, one in enumerate(found):
                    expected = reference(torch.from_numpy(mask[sample:sample + 1]),
                                         Draws(SEED, "augment", sample))[0].numpy()
                    self.assertEqual((one.shape, one.dtype), (expected.shape, mask.dtype))
                    self.assertLessEqual((one != expected).mean(), 0.004 if warps else 0,
                                         f"{name}, {sample}")

    def test_another_mask_would_be_seen(self):
        image = numpy.zeros((1, HEIGHT, WIDTH, 3), "u1")
        mask = numpy.random.default_rng(2).integers(10, 200, (1, HEIGHT, WIDTH)).astype("u1")
        operations = [{"random_rotation": {"degrees": [20, 20]}}]
        found = self.run_stage(operations, ["mask"], {"image": image, "mask": mask})["mask"][0]
        other = F.rotate(torch.from_numpy(mask), 20.5, NEAREST, fill=[0])[0].numpy()
        self.assertGreater((found != other).mean(), 0.05)

    def test_keypoints_are_where_dots_of_the_picture_are(self):
        places = numpy.random.default_rng(4).integers((2, 2), (WIDTH - 2, HEIGHT - 2), (COUNT, 2))
        image = numpy.zeros((COUNT, HEIGHT, WIDTH, 1), "u1")
        for one, (x, y) in zip(image, places):
            one[y - 1:y + 2, x - 1:x + 2] = 250
        points = numpy.ones((COUNT, 1, 3), "f4")
        points[:, 0, :2] = places + 0.5
        for name, (operations, _) in MOVES.items():
            if "erasing" in name or "," in name:
                continue
            found = self.run_stage(operations, ["keypoints"], {"image": image, "keypoints": points})
            seen = 0
            for picture, ((x, y, visible),) in zip(found["image"], found["keypoints"]):
                height, width, _ = picture.shape
                weights = picture[:, :, 0].astype(float)
                if not visible:
                    # What is left of the dot touches the edge.
                    self.assertFalse(weights[2:-2, 2:-2].any(), name)
                    continue
                seen += 1
                rows, columns = numpy.nonzero(weights > 100)
                apart = 1.0 if 3 < x < width - 3 and 3 < y < height - 3 else 3.0
                self.assertLess(abs(numpy.average(rows + 0.5) - y), apart, name)
                self.assertLess(abs(numpy.average(columns + 0.5) - x), apart, name)
            self.assertGreater(seen, COUNT // 8, name)

    def test_boxes_hold_what_their_corners_become(self):
        random = numpy.random.default_rng(6)
        left_top = random.uniform((15, 12), (24, 18), (COUNT, 5, 2))
        boxes = numpy.concatenate(
            [left_top, left_top + random.uniform(1, 12, (COUNT, 5, 2))], 2).astype("f4")
        x, y = boxes[:, :, [0, 2, 0, 2]], boxes[:, :, [1, 1, 3, 3]]
        corners = numpy.stack([x, y, numpy.ones_like(x)], 3).astype("f4")
        labels = numpy.arange(COUNT * 5).reshape(COUNT, 5)
        image = numpy.zeros((COUNT, HEIGHT, WIDTH, 1), "u1")
        whole = 0
        for name, (operations, _) in MOVES.items():
            found = self.run_stage(
                operations, ["keypoints", {"boxes": {"with": ["label"]}}],
                {"image": image, "boxes": boxes, "label": labels, "keypoints": corners})
            for sample, (kept, rows) in enumerate(zip(found["boxes"], found["label"])):
                self.assertEqual(len(kept), len(rows))
                self.assertTrue((rows // 5 == sample).all())
                for box, row in zip(kept, rows):
                    points = found["keypoints"][sample][row % 5]
                    if (points[:, 2] == 0).any():
                        continue
                    whole += 1
                    expected = [*points[:, :2].min(0), *points[:, :2].max(0)]
                    numpy.testing.assert_allclose(box, expected, atol=1e-3, err_msg=name)
        self.assertGreater(whole, COUNT * 20)

    def test_targets_move_in_a_fused_stage_too(self):
        values = numpy.random.default_rng(2).integers(0, 200, (COUNT, HEIGHT, WIDTH)).astype("u1")
        arrays = {"image": values[..., None], "mask": values}
        operations = ["random_horizontal_flip", {"random_rotation": {"degrees": 30}}]
        found = self.run_stage(operations, ["mask"], arrays, before="passthrough")
        for image, mask in zip(found["image"], found["mask"]):
            self.assertTrue((image[:, :, 0] == mask).all())
        self.assertFalse((numpy.stack(found["mask"]) == values).all())

    def test_a_bad_box_is_named_with_its_sample(self):
        image = numpy.zeros((3, 8, 8, 3), "u1")
        boxes = numpy.tile(numpy.float32([1, 1, 4, 4]), (3, 2, 1))
        boxes[2, 1] = [4, 1, 1, 4]
        with self.assertRaises(brigade.RunError) as caught:
            self.run_stage([], ["boxes"], {"image": image, "boxes": boxes})
        self.assertIn("boxes, row 1: [4, 1, 1, 4] ends before it begins", str(caught.exception))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
