#!/usr/bin/env python3
"""Writes what tests read of torchvision: torchvision_files.py FOLDER"""

import pathlib
import sys

try:
    import torch
    import torchvision
except ImportError:
    sys.exit(0)  # and writes nothing

CLASSES = 7


def main(folder):
    for name in ("resnet18", "resnet50"):
        torch.manual_seed(7)
        model = getattr(torchvision.models, name)(num_classes=CLASSES)
        torch.save(dict(model.state_dict()), folder / f"{name}.fresh")
        model.train()
        for _ in range(2):  # so that the averages of the normalisation are no ones and zeros
            model(torch.rand(4, 3, 64, 96) * 2 - 1)
        model.eval()
        images = torch.rand(3, 3, 80, 64) * 2 - 1
        with torch.no_grad():
            torch.save({"images": images, "scores": model(images)}, folder / f"{name}.scores")
        torch.save(dict(model.state_dict()), folder / f"{name}.pt")
        if name == "resnet18":
            other_forms(model, folder)


def other_forms(model, folder):
    state = dict(model.state_dict())
    torch.save({"model": state, "epoch": 3}, folder / "in_a_dict.pt")
    torch.save({f"module.{name}": value for name, value in state.items()}, folder / "prefix.pt")
    torch.jit.script(model).save(str(folder / "scripted.pt"))
    torch.save(model.state_dict(), folder / "ordered.pt")
    torch.save({"epoch": 3}, folder / "no_tensors.pt")
    (folder / "text.pt").write_text("no weights")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
