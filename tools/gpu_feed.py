#!/usr/bin/env python3
"""Trains a ResNet-50 on batches that come by three ways, compares what arrives with what was sent,
or copies batches until it is killed.

    gpu_feed.py step --way cached|brigade|data_loader [--device cuda:0] [--small] [--steps N]
    gpu_feed.py compare [--device cuda:0] [--small]
    gpu_feed.py copy [--device cuda:0]

Part of `gpu_check`. `step` prints {"samples_per_second": ...}. `cached` is one batch that is on the
device already: no way of feeding can be faster. With --device host (threads that copy) and --small
all of it runs where there is no GPU.
"""

import argparse
import json
import time

import brigade
import torch
from torch import nn

GRAPH = """
stages:
  pictures:
    producer: synthetic
    params: {{name: image, shape: [{side}, {side}, 3], dtype: u8, fill: {fill}, count: {count}}}
    batch: {batch}
  labels: {{producer: synthetic, params: {{name: label, count: {count}}}, batch: {batch}}}
  train: {{consumer: application, from: [pictures, labels], join: zip}}
"""


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.body = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width),
            nn.ReLU(True), nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.shortcut = nn.Identity() if inputs == outputs else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


def resnet(blocks, classes):
    """ResNet-50 of He et al., 2015, with blocks (3, 4, 6, 3)."""
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(True),
              nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for stage, count in enumerate(blocks):
        width = 64 << stage
        for block in range(count):
            layers.append(Bottleneck(inputs, width, 2 if block == 0 and stage > 0 else 1))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(inputs, classes))


class Pictures(torch.utils.data.Dataset):
    """What the graph has, as torch's DataLoader takes it."""

    def __init__(self, count, side):
        self.count, self.side = count, side

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return torch.empty(self.side, self.side, 3, dtype=torch.uint8), i


class Feed:
    def __init__(self, arguments):
        self.device = arguments.device
        self.where = torch.device("cpu" if self.device == "host" else self.device)
        self.batch, self.side = (4, 32) if arguments.small else (256, 224)
        self.count = self.batch * 40
        self.workers = arguments.workers

    def graph(self, fill="none"):
        return GRAPH.format(side=self.side, count=self.count, batch=self.batch, fill=fill)

    def cached(self):
        image = torch.zeros(self.batch, self.side, self.side, 3, dtype=torch.uint8)
        label = torch.arange(self.batch)
        batch = image.to(self.where), label.to(self.where)
        while True:
            yield batch

    def brigade(self):
        with brigade.Loader(self.graph(), device=self.device) as loader:
            while True:
                for batch in loader:
                    yield batch[0], batch[1]

    def data_loader(self):
        pinned = self.where.type == "cuda"
        loader = torch.utils.data.DataLoader(
            Pictures(self.count, self.side), self.batch, num_workers=self.workers,
            pin_memory=pinned, persistent_workers=self.workers > 0)
        while True:
            for image, label in loader:
                yield (image.to(self.where, non_blocking=pinned),
                       label.to(self.where, non_blocking=pinned))


def train(feed, way, steps, blocks):
    """Samples per second, without the first steps."""
    model = resnet(blocks, feed.count).to(feed.where, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    on_gpu = feed.where.type == "cuda"
    batches = getattr(feed, way)()
    began, warm_up = 0.0, max(1, steps // 5)
    for step in range(warm_up + steps):
        if step == warm_up:
            if on_gpu:
                torch.cuda.synchronize(feed.where)
            began = time.perf_counter()
        image, label = next(batches)
        with torch.autocast(feed.where.type, torch.bfloat16, enabled=on_gpu):
            pixels = image.permute(0, 3, 1, 2).float().div_(255)
            loss = nn.functional.cross_entropy(model(pixels), label)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    if on_gpu:
        torch.cuda.synchronize(feed.where)
    took = time.perf_counter() - began
    batches.close()
    return steps * feed.batch / took


def compare(feed):
    """How many batches came otherwise than they come without a device, while the device is busy, so
    that copies are late and their memory would be wanted for the next batches."""
    epochs, ahead = 3, 3
    graph = feed.graph("random")
    with brigade.Loader(graph, tensors="torch") as loader:
        wanted = [[batch[0].clone() for batch in loader] for _ in range(epochs)]
    busy = torch.rand(2048 if feed.where.type == "cuda" else 64, device=feed.where).diag()

    def by_loader():
        with brigade.Loader(graph, device=feed.device, prefetch=ahead) as loader:
            for _ in range(epochs):
                yield [batch[0] for batch in keep_busy(loader)]

    def by_batch():
        with brigade.Loader(graph, tensors="torch") as loader:
            for _ in range(epochs):
                yield [batch.to(feed.device, non_blocking=True)[0] for batch in keep_busy(loader)]

    def keep_busy(batches):
        for batch in batches:
            for _ in range(20):
                torch.mm(busy, busy)
            yield batch

    wrong = 0
    for way in by_loader, by_batch:
        for found, expected in zip(way(), wanted, strict=True):
            wrong += sum(not torch.equal(one.cpu(), other)
                         for one, other in zip(found, expected, strict=True))
    return wrong, 2 * epochs * len(wanted[0])


def copy(feed):
    """Until it is killed."""
    with brigade.Loader(feed.graph(), device=feed.device) as loader:
        told = False
        while True:
            for batch in loader:
                if not told:
                    print("copying", flush=True)
                told = True
                del batch


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("step", "compare", "copy"))
    parser.add_argument("--way", choices=("cached", "brigade", "data_loader"), default="brigade")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--small", action="store_true", help="a small net on small pictures")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--workers", type=int, default=8, help="of torch's DataLoader")
    arguments = parser.parse_args()
    feed = Feed(arguments)
    if arguments.what == "copy":
        copy(feed)
    if arguments.what == "compare":
        wrong, batches = compare(feed)
        print(json.dumps({"wrong": wrong, "batches": batches}))
        return
    blocks = (1, 1, 1, 1) if arguments.small else (3, 4, 6, 3)
    speed = train(feed, arguments.way, arguments.steps, blocks)
    print(json.dumps({"samples_per_second": speed}))


if __name__ == "__main__":
    main()
