#!/usr/bin/env python3
"""Every graph of configs/recipes/ for which there is a little data runs for two epochs."""

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
        "simclr": "photos", "webdataset": "labelled", "mixup_cutmix": FASHION_MNIST}

TOO_LARGE = {"imagenet_resnet50"}


class Recipes(ProgramTest):
    def run_recipe(self, path):
        data = DATA[path.stem]
        if data in recipe_data.KINDS:
            recipe_data.write(data, self.folder / data)
        summary = self.folder / "summary.json"
        self.runs.append(Running(
            ["run", path, "--quiet", "--limit", 300, "--set", "epochs=2", "--summary", summary,
             "--set", f"vars.data={self.folder / data}"],
            environment={"TMPDIR": str(self.temporary)}))
        finished = self.runs[-1].finish()
        self.assertEqual(finished.code, 0, finished.err)
        for index in self.temporary.glob("*.index"):
            index.unlink()
        return json.loads(summary.read_text())

    def test_run_on_data_of_their_kind(self):
        recipes = sorted(RECIPES.glob("*.yaml"))
        self.assertEqual({path.stem for path in recipes}, {*DATA, *TOO_LARGE})
        torch = brigade_program.PROGRAM.parent.parent / "lib" / "brigade" / "brigade_torch.so"
        for path in recipes:
            if path.stem in TOO_LARGE or (needs_libtorch([path]) and not torch.exists()):
                continue
            with self.subTest(path.stem):
                summary = self.run_recipe(path)
                self.assertGreaterEqual(summary["samples"], 16)
                self.assertEqual(sum(stage["skipped"] for stage in summary["stages"]), 0)
                self.assertEqual(sum(edge["leaked"] for edge in summary["edges"]), 0)

    def test_two_views_of_a_picture_decode_it_once(self):
        stages = {stage["name"]: stage["samples"]
                  for stage in self.run_recipe(RECIPES / "simclr.yaml")["stages"]}
        self.assertGreater(stages["files"], 0)
        self.assertEqual([stages[name] for name in ("pictures", "one", "two", "pairs")],
                         4 * [stages["files"]])


if __name__ == "__main__":
    main()
