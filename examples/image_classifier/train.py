#!/usr/bin/env python3
"""ResNet-18 in a loop of torch's, over the batches of the two stages `train` and `test`.

    train.py [--resume] [--epochs N] [--set KEY=VALUE]... [GRAPH...]

After each epoch it evaluates, and keeps what --resume goes on with in image_classifier_python.pt.
Needs torch and the package brigade; torchvision's resnet18() would do as well.
"""

import argparse
import os

import torch
from torch import nn

import brigade

CHECKPOINT = "image_classifier_python.pt"


class Block(nn.Module):
    def __init__(self, before, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = nn.Sequential()
        if stride != 1 or before != width:
            self.downsample = nn.Sequential(nn.Conv2d(before, width, 1, stride, bias=False),
                                            nn.BatchNorm2d(width))

    def forward(self, x):
        out = self.bn1(self.conv1(x)).relu()
        return (self.bn2(self.conv2(out)) + self.downsample(x)).relu()


class ResNet18(nn.Module):
    """Its parameters have torchvision's names, as in checkpoints of torch_classifier."""

    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        for number, width in enumerate((64, 128, 256, 512), 1):
            before, stride = (64, 1) if number == 1 else (width // 2, 2)
            setattr(self, f"layer{number}", nn.Sequential(Block(before, width, stride),
                                                          Block(width, width, 1)))
        self.fc = nn.Linear(512, classes)

    def forward(self, images):
        """u8 [B, height, width, 3], the graph's memory, to scores [B, classes]."""
        x = images.permute(0, 3, 1, 2).float() / 127.5 - 1
        x = nn.functional.max_pool2d(self.bn1(self.conv1(x)).relu(), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


def evaluate(model, test):
    model.eval()
    right = samples = 0
    with torch.no_grad():
        for batch in test:
            right += (model(batch["image"]).argmax(1) == batch["label"]).sum().item()
            samples += len(batch["label"])
    return right / samples


def train_epoch(model, optimizer, train, step):
    model.train()
    losses = []
    for batch in train:
        step += 1
        optimizer.param_groups[0]["lr"] = 0.001 * min(1, step / 20)
        loss = nn.functional.cross_entropy(model(batch["image"]), batch["label"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses), step


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("graph", nargs="*", default=["image_classifier.yaml"])
    arguments = parser.parse_args()
    settings = dict(one.split("=", 1) for one in arguments.set)
    torch.manual_seed(7)
    with brigade.Loader(arguments.graph, "train", set=settings) as train, \
            brigade.Loader(arguments.graph, "test", set=settings) as test:
        model = ResNet18(classes=5)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.001)
        first = step = 0
        if arguments.resume and os.path.exists(CHECKPOINT):
            saved = torch.load(CHECKPOINT)
            model.load_state_dict(saved["model"])
            optimizer.load_state_dict(saved["optimizer"])
            train.load_state_dict(saved["train"])
            first, step = saved["epoch"], saved["step"]
        for epoch in range(first, arguments.epochs):
            loss, step = train_epoch(model, optimizer, train, step)
            print(f"epoch {epoch + 1}: accuracy {evaluate(model, test):.3f}, loss {loss:.3f}",
                  flush=True)
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                        "train": train.state_dict(), "epoch": epoch + 1, "step": step}, CHECKPOINT)


if __name__ == "__main__":
    main()
