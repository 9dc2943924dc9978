#!/usr/bin/env python3
"""Pictures, boxes, weights and operations that cannot be right: each a line that says what is wrong
with which, beside a control that runs."""

import io
import pathlib
import struct
import sys
import tarfile
from unittest import mock

from brigade_program import ProgramTest, Running, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
import recipe_data  # noqa: E402, the folder is not a package

RECIPES = ROOT / "configs" / "recipes"
WIDTH, HEIGHT = recipe_data.WIDTH, recipe_data.HEIGHT
OF_FOLDERS = """
stages:
  files: {producer: image_folder, shuffle: true, params: {root: photos}MORE}
  pictures: {transform: decode_image, from: files, params: {size: 32}}
  changed: {transform: augment, from: pictures, params: {operations: [OPERATION]}}
  count: {consumer: count, from: changed}
"""
FLIP = "random_horizontal_flip"
# Operations with what torchvision would refuse, too, and a picture of 32 pixels, too small for its
# crop.
OPERATIONS = {
    "{random_crop: {size: 500}}": "a crop of 500 x 500 does not fit into 32 x 32 pixels; set `pad_",
    "{five_crop: {size: 500}}": "crops of 500 x 500 do not fit into 32 x 32 pixels; put a resize",
    "{color_jitter: {brightness: -1}}": 'brightness: expected a number from 0 to 1000, found "-1"',
    "{color_jitter: {hue: 0.9}}": 'hue: expected a number from -0.5 to 0.5, found "0.9"',
    "{random_rotation: {degrees: -3}}": "degrees: a single number is the distance from the middle",
    "{gaussian_blur: {kernel_size: 4}}": "gaussian_blur: kernel_size must be odd",
    "{random_erasing: {scale: [0.5, 0.1]}}": "a lower and an upper limit for scale and ratio",
    "{random_erasing: {p: 1.5}}": 'p: expected a number from 0 to 1, found "1.5"',
    "{random_perspective: {distortion_scale: 2}}": "expected a number from 0 to 1, found",
    "{random_posterize: {bits: 9}}": 'bits: expected a whole number from 0 to 8, found "9"',
    "{rand_augment: {magnitude: 99}}": "magnitude must be below num_magnitude_bins",
    "{random_resized_crop: {size: 5, scale: [2, 1]}}": "scale: item 1: expected a number from 0",
}
# Of the classes that recipe_data draws, and in a file of a number for each picture.
WEIGHTS = {
    "{box: -1, others: 1}": 'class "box": a weight is not negative, found -1',
    "{box: .nan, others: 1}": 'class "box": expected a number such as 2.5, found ".nan"',
    "{box: 0, others: 0}": "all numbers are 0, expected at least one above 0",
    "{cow: 1, others: 1}": 'the source has no class "cow"',
    "nan.txt": "nan.txt:2: a weight is a number, found nan",
    "negative.txt": "negative.txt:1: a weight is not negative, found -1",
    "zeros.txt": "zeros.txt: all weights are 0, expected at least one above 0",
    "few.txt": "few.txt: has 1 weights, but its source has 16 samples",
}
FILES = {"nan.txt": ["1", "nan"] + 14 * ["1"], "negative.txt": ["-1"] + 15 * ["1"],
         "zeros.txt": 16 * ["0"], "few.txt": ["1"]}
BOXES = {
    (500, 500, 600, 600): "boxes, row 0: [500, 500, 600, 600] is outside its image of 96",
    (-50, -50, 60, 60): "boxes, row 0: [-50, -50, 60, 60] is outside its image of 96",
    (float("nan"), 0, 5, 5): "boxes, row 0: [nan, 0, 5, 5] has a number that is not finite",
    (60, 60, 20, 20): "boxes, row 0: [60, 60, 20, 20] ends before it begins; check `format:` (xywh",
}


class BadInput(ProgramTest):
    def check(self, arguments, text):
        """One line says it; without `text`, the control, it runs."""
        self.runs.append(Running(["run", *arguments, "--quiet"], cwd=self.folder,
                                 environment={"TMPDIR": str(self.temporary)}))
        finished = self.runs[-1].finish()
        for index in self.temporary.glob("*.index"):
            index.unlink()
        errors = [line for line in finished.err.splitlines() if "error: " in line]
        self.assertEqual(finished.code != 0, bool(text), finished.err)
        self.assertEqual(len(errors), 1 if text else 0, finished.err)
        self.assertTrue(not text or text in errors[0], f"{text}\n{finished.err}")

    def test_operations_and_weights(self):
        recipe_data.write("photos", self.folder / "photos")
        for name, lines in FILES.items():
            self.write(name, "".join(f"{line}\n" for line in lines))
        self.write("good.txt", 16 * "2\n")
        cases = [({"OPERATION": one, "MORE": ""}, text)
                 for one, text in {FLIP: "", **OPERATIONS}.items()]
        cases += [({"OPERATION": FLIP, "MORE": f", weights: {one}"}, text)
                  for one, text in {"{box: 2, others: 1}": "", "good.txt": "", **WEIGHTS}.items()]
        for words, text in cases:
            with self.subTest(words):
                yaml = OF_FOLDERS
                for word, value in words.items():
                    yaml = yaml.replace(word, value)
                self.check([self.write("graph.yaml", yaml)], text)

    def test_masks_of_another_size_than_their_picture(self):
        picture = recipe_data.Picture(1)
        for width, height, text in ((WIDTH, HEIGHT, ""),
                                    (8, 6, "its mask: it has 8 x 6 pixels, the image has 128 x ")):
            with mock.patch.multiple(recipe_data, WIDTH=width, HEIGHT=height):
                mask = recipe_data.png(bytes(width * height), 1)
            with tarfile.open(self.folder / "a.tar", "w") as archive:
                for name, data in (("0.png", recipe_data.png(picture.pixels, 3)),
                                   ("0.seg.png", mask)):
                    member = tarfile.TarInfo(name)
                    member.size = len(data)
                    archive.addfile(member, io.BytesIO(data))
            self.check([RECIPES / "segmentation.yaml", "--set", f"vars.data={self.folder}"], text)

    def test_boxes_outside_of_their_picture(self):
        def write(name, kind, shape, data):
            (self.folder / f"{name}.npy").write_bytes(recipe_data.npy(kind, shape, data))

        write("images", "|u1", (1, HEIGHT, WIDTH, 3), bytes(3 * HEIGHT * WIDTH))
        write("labels", "<i8", (1, 1), struct.pack("<q", 0))
        for box, text in {(10, 10, 50, 60): "", **BOXES}.items():
            with self.subTest(box):
                write("boxes", "<f4", (1, 1, 4), struct.pack("<4f", *box))
                self.check([RECIPES / "detection.yaml", "--set", f"vars.data={self.folder}"], text)

    def test_classes_that_differ_between_training_and_evaluation(self):
        self.torch_module()
        for part in ("train", "val"):
            recipe_data.write("photos", self.folder / part)
        yaml = """
stages:
  files: {producer: image_folder, params: {root: train}}
  test_files: {producer: image_folder, params: {root: val}}
  train: {transform: decode_image, from: files, batch: 8, params: {size: 32}}
  test: {transform: decode_image, from: test_files, batch: 8, params: {crop: center, size: 32}}
  learn: {consumer: torch_classifier, from: {train: train, test: test}, join: epochs,
          params: {model: small_cnn, classes: 3}}
"""
        self.check([self.write("graph.yaml", yaml)], "")
        (self.folder / "val" / "ellipse").rename(self.folder / "val" / "egg")
        self.check([self.write("graph.yaml", yaml)], 'the labels of "test" belong to different '
                   'classes than the labels of "train": missing: ellipse, and extra: egg')


if __name__ == "__main__":
    main()
