#!/usr/bin/env python3
"""Every graph of configs/recipes/ runs for two epochs on a little data of its kind."""

import json
import pathlib
import sys

from brigade_program import ProgramTest, Running, main
from configs_test import needs_libtorch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
import recipe_data  # noqa: E402, the folder is not a package

RECIPES = ROOT / "configs" / "recipes"
FASHION_MNIST = "/usr/share/datasets/fashion-mnist"
DATA = {"cifar10": "cifar", "detection": "boxes", "segmentation": "masked", "simclr": "photos",
        "webdataset": "labelled", "mixup_cutmix": FASHION_MNIST}


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
        recipes = [path for path in sorted(RECIPES.glob("*.yaml")) if not needs_libtorch([path])]
        self.assertEqual({path.stem for path in recipes}, set(DATA))
        for path in recipes:
            with self.subTest(path.stem):
                summary = self.run_recipe(path)
                self.assertGreaterEqual(summary["samples"], 16)
                self.assertEqual(sum(stage["skipped"] for stage in summary["stages"]), 0)
                self.assertEqual(sum(edge["leaked"] for edge in summary["edges"]), 0)


if __name__ == "__main__":
    main()
