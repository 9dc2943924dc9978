"""`transform: augment` beside torchvision's functions of the same names, on the same draws."""

import math
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
    from torchvision.transforms import InterpolationMode, RandAugment, TrivialAugmentWide
    from torchvision.transforms.autoaugment import _apply_op
except ImportError as missing:
    print(f"skipped: {missing} (python3-torchvision)")
    sys.exit(77)

SEED, COUNT = 5, 12
NEAREST = InterpolationMode.NEAREST
MODES = {"nearest": NEAREST, "bilinear": InterpolationMode.BILINEAR}
RESIZE_MODES = {**MODES, "bicubic": InterpolationMode.BICUBIC}


def pictures(height=40, width=52, channels=3):
    """Smooth ones with noise, one even, one dark."""
    y, x = numpy.mgrid[0:height, 0:width]
    noise = numpy.random.default_rng(3).integers(0, 60, (COUNT, height, width, channels))
    periods = (5 + numpy.arange(COUNT))[:, None, None, None]
    waves = numpy.sin((y + 2 * x)[None, :, :, None] / periods + numpy.arange(channels))
    made = (95 + 95 * waves + noise).clip(0, 255).astype("u1")
    made[-1], made[-2] = 77, made[-2] // 9
    return made


def op(name, **params):
    return [{name: params}]


class AugmentTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name, "pictures.npy")
        self.images = pictures()

    def run_stage(self, operations, **params):
        numpy.save(self.file, self.images)
        stages = {
            "pictures": {"producer": "npy", "params": {"files": {"image": str(self.file)}}},
            "augment": {"transform": "augment", "from": "pictures", "batch": 5,
                        "params": {"operations": operations, **params}},
            "train": {"consumer": "application", "from": "augment"}}
        if params.get("dtype") == "bf16":  # which NumPy does not have
            with brigade.Loader({"seed": SEED, "stages": stages}, tensors="torch") as loader:
                return torch.cat([batch["image"].float() for batch in loader]).numpy()
        with brigade.Loader({"seed": SEED, "stages": stages}, tensors="numpy") as loader:
            return numpy.concatenate([batch["image"].copy() for batch in loader])

    def check(self, operations, reference, most=0, unlike=0.0):
        """`reference(picture, draws)` is of torch's CHW. `most`: how far apart levels may be, but
        for a share `unlike` of them."""
        found = self.run_stage(operations)
        self.assertEqual(len(found), len(self.images))
        for sample, (one, image) in enumerate(zip(found, self.images)):
            expected = reference(torch.from_numpy(image).permute(2, 0, 1),
                                 Draws(SEED, "augment", sample)).permute(1, 2, 0).numpy()
            self.assertEqual(one.shape, expected.shape)
            apart = numpy.abs(one.astype(int) - expected)
            self.assertLessEqual((apart > most).mean(), unlike,
                                 f"sample {sample}: {apart.max()} levels apart")
        return found

    def test_flips_pads_and_crops_are_torchvision_s(self):
        self.check(op("random_horizontal_flip", p=1), lambda image, _: F.hflip(image))
        found = self.check(["random_vertical_flip"], lambda image, draws:
                           F.vflip(image) if draws.chance(0.5) else image)
        kept = sum((one == image).all() for one, image in zip(found, self.images))
        self.assertTrue(0 < kept < COUNT)
        self.check(op("pad", padding=[1, 2, 3, 4], fill=9),
                   lambda image, _: F.pad(image, [1, 2, 3, 4], 9))
        for size in ([21, 33], [40, 60], [45, 31], [60, 61]):
            self.check(op("center_crop", size=size), lambda image, _: F.center_crop(image, size))

        def crop(image, draws):
            image = F.pad(image, [4])
            y, x = draws.below(48 - 32 + 1), draws.below(60 - 32 + 1)
            return F.crop(image, y, x, 32, 32)
        self.check(op("random_crop", size=32, padding=4), crop)

    def test_resizes_are_torchvision_s(self):
        for channels in (3, 1):
            self.images = pictures(channels=channels)
            for size in ([20], [64], [24, 31], [80, 20]):
                for name, mode in RESIZE_MODES.items():
                    for antialias in (True, False):
                        torch_s = antialias if mode != NEAREST else None  # it refuses a choice
                        self.check(
                            op("resize", size=size, interpolation=name, antialias=antialias),
                            lambda image, _: F.resize(image, size, mode, antialias=torch_s),
                            most=0 if mode == NEAREST else 1)

        self.images = pictures()

        def crop(image, draws, mode=InterpolationMode.BILINEAR, antialias=True):
            part = part_to_resize(draws, *image.shape[1:])
            return F.resized_crop(image, *part, [24, 28], mode, antialias=antialias)
        self.check(op("random_resized_crop", size=[24, 28]), crop, most=1)
        self.check(op("random_resized_crop", size=[24, 28], interpolation="bicubic"),
                   lambda image, draws: crop(image, draws, InterpolationMode.BICUBIC), most=1)
        self.check(op("random_resized_crop", size=[24, 28], interpolation="nearest"),
                   lambda image, draws: crop(image, draws, NEAREST, None))

    def test_five_crops_are_a_stack(self):
        mean, std = [0.4, 0.5, 0.6], [0.2, 0.3, 0.4]
        expected = torch.stack([torch.stack(F.five_crop(torch.from_numpy(image).permute(2, 0, 1),
                                                        [21, 16])) for image in self.images])
        crops = op("five_crop", size=[21, 16])
        self.assertTrue((self.run_stage(crops, layout="CHW") == expected.numpy()).all())
        hwc = expected.permute(0, 1, 3, 4, 2).numpy()
        self.assertTrue((self.run_stage(crops) == hwc).all())
        numbers = F.normalize(expected / 255, mean, std).numpy()
        numpy.testing.assert_allclose(
            self.run_stage(crops, dtype="f32", layout="CHW", mean=mean, std=std), numbers,
            rtol=1e-5, atol=1e-6)

    def test_colours_change_as_torchvision_s(self):
        for factor in (0, 0.4, 1, 1.7):
            for name, adjust in (("brightness", F.adjust_brightness),
                                 ("contrast", F.adjust_contrast),
                                 ("saturation", F.adjust_saturation)):
                self.check(op("color_jitter", **{name: [factor, factor]}),
                           lambda image, _: adjust(image, factor), most=1)
        for turn in (-0.5, -0.1, 0.3, 0.5):
            self.check(op("color_jitter", hue=[turn, turn]),
                       lambda image, _: F.adjust_hue(image, turn), most=1)
        self.check(op("random_grayscale", p=1), lambda image, _: F.rgb_to_grayscale(image, 3))
        self.check(op("random_invert", p=1), lambda image, _: F.invert(image))
        self.check(op("random_solarize", threshold=99.5, p=1),
                   lambda image, _: F.solarize(image, 99.5))
        for bits in (0, 1, 4, 8):
            self.check(op("random_posterize", bits=bits, p=1),
                       lambda image, _: F.posterize(image, bits))
        self.check(op("random_autocontrast", p=1), lambda image, _: F.autocontrast(image))
        self.check(op("random_equalize", p=1), lambda image, _: F.equalize(image))

    def test_color_jitter_draws_an_order_and_then_the_factors(self):
        def jitter(image, draws):
            if not draws.chance(0.8):
                return image
            order = []
            for i in range(4):
                order.append(i)
                at = draws.below(i + 1)
                order[i], order[at] = order[at], order[i]
            factors = [draws.uniform(*limits)
                       for limits in ((0.6, 1.4), (0.7, 1.3), (0.5, 1.5), (-0.1, 0.1))]
            for which in order:
                image = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation,
                         F.adjust_hue)[which](image, factors[which])
            return image
        found = self.check(op("color_jitter", brightness=0.4, contrast=0.3, saturation=0.5, hue=0.1,
                              p=0.8), jitter, most=3, unlike=0.001)
        self.assertFalse((found == self.images).all())

    def test_filters_are_torchvision_s(self):
        for kernel, sigma in ((3, 0.5), (9, 2.0), (23, 7.0)):
            self.check(op("gaussian_blur", kernel_size=kernel, sigma=sigma), lambda image, _:
                       F.gaussian_blur(image, [kernel, kernel], [sigma, sigma]), most=1)
        for factor in (0, 0.5, 2.5):
            self.check(op("random_adjust_sharpness", sharpness_factor=factor, p=1),
                       lambda image, _: F.adjust_sharpness(image, factor), most=1)

    def test_warps_are_torchvision_s(self):
        edges = {"most": 1, "unlike": 0.004}  # of pixels between two, by how sums are rounded
        for name, mode in MODES.items():
            self.check(op("random_rotation", degrees=30, interpolation=name, fill=100),
                       lambda image, draws: F.rotate(image, draws.uniform(-30, 30), mode,
                                                     fill=[100.0]), **edges)

            def affine(image, draws):
                angle = draws.uniform(-20, 20)
                across, down = round(draws.uniform(-5.2, 5.2)), round(draws.uniform(-8, 8))
                scale = draws.uniform(0.7, 1.3)
                return F.affine(image, angle, [across, down], scale,
                                [draws.uniform(-9, 9), 0.0], mode, [0.0])
            self.check(op("random_affine", degrees=20, translate=[0.1, 0.2], scale=[0.7, 1.3],
                          shear=9, interpolation=name), affine, **edges)

            def perspective(image, draws):
                if not draws.chance(0.9):
                    return image
                near = [(draws.below(int(0.6 * 26) + 1), draws.below(int(0.6 * 20) + 1))
                        for _ in range(4)]
                start = [[0, 0], [51, 0], [51, 39], [0, 39]]
                end = [[x - a if x else a, y - b if y else b]
                       for (x, y), (a, b) in zip(start, near)]
                return F.perspective(image, start, end, mode, [0.0])
            self.check(op("random_perspective", distortion_scale=0.6, p=0.9, interpolation=name),
                       perspective, **edges)

    def test_erasing_paints_the_box_that_torchvision_would(self):
        color = torch.tensor([1, 2, 3], dtype=torch.uint8)[:, None, None]

        def erase(image, draws):
            if not draws.chance(0.7):
                return image
            for _ in range(10):
                area = 40 * 52 * draws.uniform(0.02, 0.33)
                ratio = math.exp(draws.uniform(math.log(0.3), math.log(3.3)))
                h, w = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
                if h < 40 and w < 52:
                    y, x = draws.below(40 - h + 1), draws.below(52 - w + 1)
                    return F.erase(image, y, x, h, w, color)
            return image
        self.check(op("random_erasing", p=0.7, value=[1, 2, 3]), erase)

    def apply(self, image, draws, policy, bin_of, mode=NEAREST):
        """One choice of torchvision's policy, with its own table of strengths."""
        space = policy._augmentation_space(31, *([list(image.shape[1:])] if bin_of else []))
        choice = draws.below(14)
        name, (magnitudes, signed) = list(space.items())[choice]
        strength = 0.0
        if magnitudes.ndim > 0:
            strength = float(magnitudes[bin_of if bin_of else draws.below(31)])
            strength = round(strength, 4)  # torch 2.15 has 15.999999 for 16, which would move by 15
        if signed and draws.below(2):
            strength = -strength
        return _apply_op(image, name, strength, interpolation=mode, fill=None)

    def test_policies_choose_and_do_what_torchvision_s_do(self):
        self.images = numpy.concatenate([pictures()] * 12)
        trivial, rand = TrivialAugmentWide(), RandAugment()
        for name, mode in MODES.items():
            self.check(op("trivial_augment_wide", interpolation=name), lambda image, draws:
                       self.apply(image, draws, trivial, None, mode), most=1, unlike=0.005)
        # The second operation multiplies what rounding did to the first.
        self.check(["rand_augment"], lambda image, draws: self.apply(
            self.apply(image, draws, rand, 9), draws, rand, 9), most=4, unlike=0.01)

    def test_numbers_are_those_of_normalize_in_every_dtype_and_layout(self):
        mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
        images = torch.from_numpy(self.images).permute(0, 3, 1, 2)
        expected = F.normalize(F.convert_image_dtype(images, torch.float32), mean, std)
        for layout, order in (("CHW", (0, 1, 2, 3)), ("HWC", (0, 2, 3, 1))):
            for dtype, rounding in (("f32", 1e-6), ("f16", 2**-11), ("bf16", 2**-8)):
                found = self.run_stage([], dtype=dtype, layout=layout, mean=mean, std=std)
                numpy.testing.assert_allclose(found, expected.permute(order).numpy(),
                                              rtol=rounding, atol=rounding)
        self.assertTrue((self.run_stage([], layout="CHW") == images.numpy()).all())
        self.assertTrue((self.run_stage([]) == self.images).all())

    def test_another_result_would_be_seen(self):
        for other in (lambda image, _: F.adjust_brightness(image, 1.32),
                      lambda image, draws: F.adjust_brightness(image, draws.uniform(1, 1.6))):
            with self.assertRaises(AssertionError):
                self.check(op("color_jitter", brightness=[1.3, 1.3]), other, most=1)

    def test_mistakes_are_named_with_their_place(self):
        for operations, said in (
                (["random_invrt"],
                 'item 1: unknown operation "random_invrt"; did you mean random_invert?'),
                (["random_invert", *op("random_posterize", bits=9)],
                 'item 2: random_posterize: bits: expected a whole number from 0 to 8, found "9"'),
                (op("color_jitter", brightness=-0.1), "color_jitter: brightness"),
                (op("random_crop"), "random_crop: needs size"),
                (op("gaussian_blur", kernel_size=4), "gaussian_blur: kernel_size must be odd"),
                (op("random_crop", size=64),
                 "operation 1, random_crop: a crop of 64 x 64 does not fit into 40 x 52"),
                (op("five_crop", size=64),
                 "operation 1, five_crop: crops of 64 x 64 do not fit into 40 x 52"),
                ([*op("five_crop", size=9), "random_invert"],
                 "operation 2, random_invert: no operation can follow five_crop; move"),
                (op("random_invert", q=1), 'random_invert: has no parameter "q"; it has p'),
                ([{"random_invert": 3}], "random_invert: expected its parameters as a map"),
                ([["random_invert"]], "item 1: expected a name"),
                ("random_invert", "expected a list of operations")):
            with self.subTest(operations), self.assertRaises(brigade.GraphError) as caught:
                self.run_stage(operations)
            self.assertIn(said, str(caught.exception))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
