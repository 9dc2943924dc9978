#!/usr/bin/env python3
"""Every graph of configs/recipes/ runs for two epochs on a little data of its kind."""

import json
import pathlib
import sys

import brigade_program
from brigade_program import ProgramTest, Running, main
from configs_test import needs_libtorch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
import recipe_data  # noqa: E402, the folder is not a package

RECIPES = ROOT / "configs" / "recipes"
FASHION_MNIST = "/usr/share/datasets/fashion-mnist"
DATA = {"balanced": "photos", "cifar10": "cifar", "detection": "boxes", "segmentation": "masked",
        "simclr": "photos", "webdataset": "labelled", "mixup_cutmix": FASHION_MNIST,
        "imagenet_resnet50": "imagenet"}
# As they are, but for the classes of so little data, and for time: a picture takes seconds.
FEW = 2
CHANGED = {"imagenet_resnet50": ["stages.learn.params.classes=3", "stages.train.batch=2",
                                 "stages.test.batch=2"]}


def write_data(kind, folder):
    if kind in recipe_data.KINDS:
        recipe_data.write(kind, folder)
    elif kind == "imagenet":
        for part in ("train", "val"):
            recipe_data.write("photos", folder / part)


class Recipes(ProgramTest):
    def run_recipe(self, path, *arguments, epochs=2):
        """The summary of a run, whose files stay in TMPDIR."""
        data = DATA[path.stem]
        write_data(data, self.folder / data)
        summary = self.folder / "summary.json"
        changed = [word for change in CHANGED.get(path.stem, ()) for word in ("--set", change)]
        self.runs.append(Running(
            ["run", path, "--quiet", "--limit", FEW if changed else 300, "--set",
             f"epochs={epochs}", "--summary", summary, "--set",
             f"vars.data={self.folder / data}", *changed, *arguments],
            environment={"TMPDIR": str(self.temporary)}))
        finished = self.runs[-1].finish()
        self.assertEqual(finished.code, 0, finished.err)
        return json.loads(summary.read_text())

    def remove_what_it_wrote(self, *kinds):
        for kind in kinds:
            for path in self.temporary.glob(kind):
                path.unlink()

    def has_torch(self):
        return (brigade_program.PROGRAM.parent.parent / "lib/brigade/brigade_torch.so").exists()

    def test_run_on_data_of_their_kind(self):
        recipes = sorted(RECIPES.glob("*.yaml"))
        self.assertEqual({path.stem for path in recipes}, set(DATA))
        for path in recipes:
            if path.stem in CHANGED or (needs_libtorch([path]) and not self.has_torch()):
                continue
            with self.subTest(path.stem):
                summary = self.run_recipe(path)
                self.remove_what_it_wrote("*.index")
                self.assertGreaterEqual(summary["samples"], 16)
                self.assertEqual(sum(stage["skipped"] for stage in summary["stages"]), 0)
                self.assertEqual(sum(edge["leaked"] for edge in summary["edges"]), 0)

    def test_resnet_50_is_trained_evaluated_and_goes_on(self):
        """As the recipe says: an epoch, and with --resume the next."""
        self.torch_module()
        path = RECIPES / "imagenet_resnet50.yaml"
        first = self.run_recipe(path, epochs=1)
        self.assertTrue((self.temporary / "imagenet_resnet50.pt").exists())
        second = self.run_recipe(path, "--resume", epochs=2)
        self.remove_what_it_wrote("*.index", "imagenet_resnet50.pt*")
        for summary, seen in ((first, 2 * FEW), (second, 4 * FEW)):
            made = {stage["name"]: stage["samples"] for stage in summary["stages"]}
            self.assertEqual([made[name] for name in ("train", "test")], 2 * [FEW])
            self.assertEqual(sum(stage["skipped"] for stage in summary["stages"]), 0)
            self.assertEqual(sum(edge["leaked"] for edge in summary["edges"]), 0)
            self.assertEqual(summary["results"]["learn"]["samples"], seen)
            self.assertTrue(0 <= summary["results"]["learn"]["accuracy"] <= 1)

    def test_two_views_of_a_picture_decode_it_once(self):
        summary = self.run_recipe(RECIPES / "simclr.yaml")
        self.remove_what_it_wrote("*.index")
        stages = {stage["name"]: stage["samples"] for stage in summary["stages"]}
        self.assertGreater(stages["files"], 0)
        self.assertEqual([stages[name] for name in ("pictures", "one", "two", "pairs")],
                         4 * [stages["files"]])


if __name__ == "__main__":
    main()
