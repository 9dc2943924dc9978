"""`transform: opencv` beside cv2's functions of the same names, on the same draws: equal bytes."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import brigade
from draws import Draws
import graphs  # noqa: F401, it silences what is logged

try:
    import cv2
    import numpy
except ImportError as missing:
    print(f"skipped: {missing} (python3-opencv)")
    sys.exit(77)

BUILD = pathlib.Path(sys.argv[1])
FACTS = subprocess.run([BUILD / "bin" / "brigade", "--version"], check=True, capture_output=True,
                       text=True).stdout
BUILT_WITH = re.search(r"OpenCV ([0-9.]+)", FACTS)
if BUILT_WITH is None:
    print("skipped: the module opencv is not built (libopencv-imgproc-dev)")
    sys.exit(77)
if BUILT_WITH[1] != cv2.__version__:
    print(f"skipped: cv2 is {cv2.__version__}, the module was built with {BUILT_WITH[1]}")
    sys.exit(77)
cv2.setNumThreads(1)
SEED, COUNT, HEIGHT, WIDTH = 5, 6, 46, 57
FLAGS = {"nearest": cv2.INTER_NEAREST, "bilinear": cv2.INTER_LINEAR, "bicubic": cv2.INTER_CUBIC,
         "lanczos4": cv2.INTER_LANCZOS4}
CODES = {"gray": "GRAY", "lab": "LAB", "luv": "LUV", "ycrcb": "YCrCb", "hsv_full": "HSV_FULL"}


def pictures(channels=3):
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    noise = numpy.random.default_rng(3).integers(0, 60, (COUNT, HEIGHT, WIDTH, channels))
    periods = (5 + numpy.arange(COUNT))[:, None, None, None]
    waves = numpy.sin((y + 2 * x)[None, :, :, None] / periods + numpy.arange(channels))
    made = (95 + 95 * waves + noise).clip(0, 255).astype("u1")
    made[-1] = 77
    return made


def clahe(image, limit, tiles):
    change = cv2.createCLAHE(limit, (tiles, tiles)).apply
    if image.shape[2] == 1:
        return change(image)
    lab = cv2.cvtColor(image, cv2.COLOR_RGB2LAB)
    lab[..., 0] = change(numpy.ascontiguousarray(lab[..., 0]))
    return cv2.cvtColor(lab, cv2.COLOR_LAB2RGB)


def corners(draws, scale):
    right, bottom = WIDTH - 1, HEIGHT - 1
    before = numpy.array([[0, 0], [right, 0], [right, bottom], [0, bottom]], "f4")
    after = before.copy()
    for corner in after:
        for axis, side in enumerate((WIDTH, HEIGHT)):
            far = draws.below(int(scale * (side // 2)) + 1)
            corner[axis] += -far if corner[axis] > 0 else far
    return cv2.getPerspectiveTransform(before, after)


def lens(k1, k2):
    """The fields of cv2.initUndistortRectifyMap, in doubles."""
    middle_x, middle_y = (WIDTH - 1) / 2, (HEIGHT - 1) / 2
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH].astype("f8")
    x, y = (x - middle_x) / WIDTH, (y - middle_y) / HEIGHT
    square = x * x + y * y
    factor = 1 + (k2 * square + k1) * square
    return ((WIDTH * (x * factor) + middle_x).astype("f4"),
            (HEIGHT * (y * factor) + middle_y).astype("f4"))


def elastic(draws, alpha, sigma):
    fields = []
    for axis in range(2):
        words = [draws.next() for _ in range(HEIGHT * WIDTH)]
        noise = numpy.array(words, "u4").view("i4").astype("f4") * numpy.float32(2.0**-31)
        smooth = cv2.GaussianBlur(noise.reshape(HEIGHT, WIDTH), (0, 0), sigma)
        at = numpy.mgrid[0:HEIGHT, 0:WIDTH][1 - axis].astype("f4")
        fields.append(at + numpy.float32(alpha) * smooth)
    return fields


def folds(fields):
    """Whether some pixel lies left of its left neighbor, or above its upper one."""
    return any((numpy.diff(field, axis=1 - i) < 0).any() for i, field in enumerate(fields))


def place_in(fields, point):
    """Where a place of the result lies in the picture: between four pixels, by their distances."""
    x, y = numpy.clip(point - 0.5, 0, (WIDTH - 1, HEIGHT - 1))
    left, top = int(x), int(y)
    right, bottom = min(left + 1, WIDTH - 1), min(top + 1, HEIGHT - 1)
    found = [(1 - y % 1) * ((1 - x % 1) * field[top, left] + x % 1 * field[top, right])
             + y % 1 * ((1 - x % 1) * field[bottom, left] + x % 1 * field[bottom, right])
             for field in fields]
    return found + point - (x, y)  # beyond the edge as far off as at the edge


class OpenCvTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_stage(self, operations, arrays, stage=None, **params):
        files = {}
        for name, array in arrays.items():
            files[name] = str(self.folder / f"{name}.npy")
            numpy.save(files[name], array)
        stages = {
            "pictures": {"producer": "npy", "params": {"files": files}},
            "change": {"transform": "opencv", "from": "pictures", "batch": 4, **(stage or {}),
                       "params": {"operations": operations, **params}},
            "train": {"consumer": "application", "from": "change"}}
        with brigade.Loader({"seed": SEED, "stages": stages}, tensors="numpy") as loader:
            return [{name: batch.row(i)[name].copy() for name in batch.keys()}
                    for batch in loader for i in range(batch.size)]

    def check(self, name, reference, channels=(1, 3), **params):
        for count in channels:
            images = pictures(count)
            found = self.run_stage([{name: params}], {"image": images})
            self.assertEqual(len(found), COUNT)
            for sample, (one, image) in enumerate(zip(found, images)):
                expected = reference(image, Draws(SEED, "change", sample))
                expected = expected.reshape(HEIGHT, WIDTH, -1)
                numpy.testing.assert_array_equal(one["image"], expected, f"{name} {params}")

    def test_filters(self):
        self.check("clahe", lambda image, _: clahe(image, 40, 8))
        self.check("clahe", lambda image, draws: clahe(image, draws.uniform(1, 4), 3),
                   clip_limit=[1, 4], tiles=3)
        self.check("median_blur", lambda image, _: cv2.medianBlur(image, 5), ksize=5)
        self.check("median_blur", lambda image, draws: cv2.medianBlur(
            image, 3 + 2 * draws.below(3)), ksize=[3, 7])
        self.check("median_blur", lambda image, draws:
                   cv2.medianBlur(image, 9) if draws.chance(0.5) else image, ksize=9, p=0.5)
        self.check("bilateral_filter", lambda image, draws: cv2.bilateralFilter(
            image, 7, draws.uniform(20, 90), draws.uniform(1, 5)),
            d=7, sigma_color=[20, 90], sigma_space=[1, 5])

    def test_morphology(self):
        for op in ("erode", "dilate", "open", "close", "gradient", "tophat", "blackhat"):
            code = getattr(cv2, f"MORPH_{op.upper()}")
            self.check("morphology_ex", lambda image, _: cv2.morphologyEx(
                image, code, numpy.ones((3, 3), "u1")), op=op)
        for shape in ("rect", "cross", "ellipse"):
            kernel = cv2.getStructuringElement(getattr(cv2, f"MORPH_{shape.upper()}"), (5, 5))
            self.check("morphology_ex", lambda image, _: cv2.morphologyEx(
                image, cv2.MORPH_CLOSE, kernel, iterations=2),
                op="close", ksize=5, shape=shape, iterations=2)

    def test_edges_and_colors(self):
        self.check("canny", lambda image, draws: cv2.Canny(
            image, draws.uniform(20, 90), draws.uniform(100, 200)),
            threshold1=[20, 90], threshold2=[100, 200])
        self.check("canny", lambda image, _: cv2.Canny(image, 300, 900, None, 5, True),
                   threshold1=300, threshold2=900, aperture_size=5, l2_gradient=True)
        for space in ("gray", "bgr", "hsv", "hsv_full", "hls", "lab", "luv", "ycrcb", "yuv", "xyz"):
            code = getattr(cv2, f"COLOR_RGB2{CODES.get(space, space.upper())}")
            self.check("cvt_color", lambda image, _: cv2.cvtColor(image, code), channels=[3],
                       code=f"rgb2{space}")
        for space in ("hsv", "hls", "lab", "luv", "ycrcb", "yuv", "xyz"):
            code = getattr(cv2, f"COLOR_{CODES.get(space, space.upper())}2RGB")
            self.check("cvt_color", lambda image, _: cv2.cvtColor(image, code), channels=[3],
                       code=f"{space}2rgb")
        self.check("cvt_color", lambda image, _: cv2.cvtColor(image, cv2.COLOR_GRAY2RGB),
                   channels=[1], code="gray2rgb")

    def test_what_moves_pixels(self):
        for name, flag in FLAGS.items():
            self.check("warp_perspective", lambda image, draws: cv2.warpPerspective(
                image, corners(draws, 0.4), (WIDTH, HEIGHT), flags=flag, borderValue=(9, 9, 9)),
                distortion_scale=0.4, interpolation=name, fill=9)
            self.check("lens_distortion", lambda image, draws: cv2.remap(
                image, *lens(draws.uniform(-1, 1), 0.25), flag, borderValue=(9, 9, 9)),
                k1=[-1, 1], k2=0.25, interpolation=name, fill=9)
        self.check("elastic", lambda image, draws: cv2.remap(
            image, *elastic(draws, 40, 4), cv2.INTER_LINEAR), alpha=40, sigma=4)
        camera = numpy.array([[WIDTH, 0, (WIDTH - 1) / 2], [0, HEIGHT, (HEIGHT - 1) / 2],
                              [0, 0, 1]])
        fields = cv2.initUndistortRectifyMap(camera, numpy.array([-0.4, 0.25, 0, 0]), None, camera,
                                             (WIDTH, HEIGHT), cv2.CV_32FC1)
        for ours, theirs in zip(lens(-0.4, 0.25), fields):
            self.assertLess(numpy.abs(ours - theirs).max(), 1e-4)

    def test_a_mask_goes_where_the_picture_goes(self):
        """A picture and its mask are of the same squares; nearest keeps them equal."""
        y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
        masks = numpy.stack([((y // 6 + x // 6 + i) % 3).astype("u1") for i in range(COUNT)])
        for name, params in (("warp_perspective", {}), ("lens_distortion", {"k1": [-1, 1]}),
                             ("elastic", {"alpha": 60, "sigma": 5})):
            found = self.run_stage([{name: {"interpolation": "nearest", **params}}],
                                   {"image": masks[..., None], "mask": masks}, targets=["mask"])
            apart = [(one["image"][..., 0] != one["mask"]).mean() for one in found]
            moved = [(one["mask"] != mask).mean() for one, mask in zip(found, masks)]
            self.assertLess(max(apart), 0.02, name)  # OpenCV's places have 1/32 pixel
            self.assertGreater(max(moved), 0.1, name)

    def test_boxes_and_keypoints_go_where_the_picture_goes(self):
        """Each picture has one bright blob, whose middle is the point."""
        places = numpy.array([[12 + 5 * i, 14 + 3 * i] for i in range(COUNT)], "f4")
        y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
        images = numpy.stack([255 * numpy.exp(-((x + 0.5 - at[0])**2 + (y + 0.5 - at[1])**2) / 4)
                              for at in places]).astype("u1")[..., None]
        boxes = numpy.concatenate([places - 3, places + 3], 1)[:, None]
        for name, params in (("warp_perspective", {"distortion_scale": 0.3}),
                             ("lens_distortion", {"k1": [1, 3]}),
                             ("elastic", {"alpha": 60, "sigma": 6})):
            found = self.run_stage([{name: params}],
                                   {"image": images, "boxes": boxes, "keypoints": places[:, None]},
                                   targets=["boxes", "keypoints"])
            far = 0
            for one, before in zip(found, places):
                weight = one["image"][..., 0].astype("f8")
                middle = numpy.array([(weight * (x + 0.5)).sum(), (weight * (y + 0.5)).sum()])
                middle /= weight.sum()
                [point], [box] = one["keypoints"], one["boxes"]
                self.assertLess(numpy.abs(point - middle).max(), 0.7, name)
                self.assertLess(numpy.abs((box[:2] + box[2:]) / 2 - middle).max(), 1.5, name)
                self.assertTrue((box[:2] < point).all() and (point < box[2:]).all(), name)
                far = max(far, numpy.abs(point - before).max())
            self.assertGreater(far, 1, name)

    def test_what_follows_an_elastic_field_that_folds(self):
        """Everything stays finite and in the picture, and the same in any number of processes."""
        classes, outside = [3, 7, 200], 9
        rng = numpy.random.default_rng(4)
        points = numpy.ones((COUNT, 40, 3), "f4")
        points[..., :2] = rng.random((COUNT, 40, 2)) * (WIDTH, HEIGHT)
        corners_of = numpy.sort(rng.random((COUNT, 20, 2, 2)) * (WIDTH, HEIGHT), axis=2)
        arrays = {"image": pictures(), "keypoints": points,
                  "mask": rng.choice(classes, (COUNT, HEIGHT, WIDTH)).astype("u1"),
                  "boxes": corners_of.reshape(COUNT, 20, 4).astype("f4")}
        targets = [{"mask": {"fill": outside}}, "boxes", "keypoints"]
        for alpha, sigma, is_folded in ((20, 6, False), (300, 3, True), (100000, 0.5, True)):
            operation = [{"elastic": {"alpha": alpha, "sigma": sigma}}]
            found = self.run_stage(operation, arrays, targets=targets)
            again = self.run_stage(operation, arrays, {"replicas": 2, "batch": 1}, targets=targets)
            there = 0
            for sample, (one, other) in enumerate(zip(found, again)):
                fields = elastic(Draws(SEED, "change", sample), alpha, sigma)
                self.assertEqual(folds(fields), is_folded)
                for name, array in one.items():
                    numpy.testing.assert_array_equal(array, other[name], name)
                    self.assertTrue(numpy.isfinite(array).all(), name)
                self.assertLessEqual(set(numpy.unique(one["mask"])), {*classes, outside})
                boxes = one["boxes"].reshape(-1, 2, 2)
                self.assertTrue((boxes[:, 0] <= boxes[:, 1]).all())
                for places in (boxes, one["keypoints"][:, :2]):
                    self.assertTrue((places >= 0).all() and (places <= (WIDTH, HEIGHT)).all())
                for before, (x, y, visible) in zip(points[sample], one["keypoints"]):
                    there += visible
                    self.assertIn(visible, (0, 1))
                    if visible:
                        off = place_in(fields, numpy.array([x, y])) - before[:2]
                        self.assertLess(numpy.hypot(*off), 1.01)
            if alpha < 1000:
                self.assertGreater(there, 20)

    def test_a_geometry_follows_a_perspective_and_nothing_without_a_matrix(self):
        """The points that moved, beside what the matrix makes of them."""
        images = pictures()
        numpy.save(self.folder / "image.npy", images)
        numpy.save(self.folder / "keypoints.npy", numpy.array([[[20, 30]]] * COUNT, "f4"))
        files = {name: str(self.folder / f"{name}.npy") for name in ("image", "keypoints")}

        def run(operation):
            stages = {
                "pictures": {"producer": "npy", "params": {"files": files}},
                "flip": {"transform": "augment", "from": "pictures", "params": {
                    "operations": ["random_horizontal_flip"], "geometry": True,
                    "targets": ["keypoints"]}},
                "change": {"transform": "opencv", "from": "flip", "batch": 1, "params": {
                    "operations": [operation], "targets": ["keypoints"]}},
                "train": {"consumer": "application", "from": "change"}}
            with brigade.Loader({"seed": SEED, "stages": stages}, tensors="numpy") as loader:
                for batch in loader:
                    [matrix], [[point]] = batch["geometry"], batch["keypoints"]
                    x, y, scale = matrix @ (20, 30, 1)
                    numpy.testing.assert_allclose(point, (x / scale, y / scale), atol=1e-3)

        run({"median_blur": {"ksize": 3}})
        run({"warp_perspective": {"distortion_scale": 0.3}})
        with self.assertRaisesRegex(brigade.Error, "elastic: the input tensor geometry is"):
            run("elastic")

    def test_layout_and_a_list(self):
        images = pictures()
        operations = [{"median_blur": {"ksize": [3, 5]}}, {"cvt_color": {"code": "rgb2hsv"}}]
        planes = self.run_stage(operations, {"image": images}, layout="CHW")
        pixels = self.run_stage(operations, {"image": images}, {"replicas": 2, "batch": 1})
        for i, image in enumerate(images):
            blurred = cv2.medianBlur(image, 3 + 2 * Draws(SEED, "change", i).below(2))
            expected = cv2.cvtColor(blurred, cv2.COLOR_RGB2HSV)
            numpy.testing.assert_array_equal(pixels[i]["image"], expected)
            numpy.testing.assert_array_equal(planes[i]["image"], expected.transpose(2, 0, 1))

    def test_wrong_parameters_are_errors_before_the_run(self):
        for operation, said in (
                ({"median_blur": {"ksize": 4}}, "ksize: expected an odd number from 3"),
                ({"median_blur": {}}, "needs ksize"),
                ({"morphology_ex": {"op": "opn"}}, "op"),
                ({"canny": {"threshold1": 1, "threshold2": 2, "aperture_size": 4}}, "3, 5 or 7"),
                ({"cvt_color": {"code": "gray2rgb"}}, "images with 1 channel, found 3"),
                ({"bilateral_filter": {"d": 5, "sigma_color": 0, "sigma_space": 1}}, "above 0"),
                ({"elastic": {"sigma": 0}}, "sigma: expected a number above 0"),
                ("gaussian_blur", "use the operation of `transform: augment`"),
                ("clae", "did you mean clahe?")):
            with self.assertRaises(brigade.Error) as caught:
                self.run_stage([operation], {"image": pictures()})
            self.assertIn(said, str(caught.exception))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
