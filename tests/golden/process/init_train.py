"""Trains a small network on the images of pets.yaml, and evaluates it after each epoch.

    python train.py

Stop it when you like: it saves checkpoint.pt, and the next start resumes there.
"""

import os
import pathlib

import brigade
import torch
from torch import nn

HERE = pathlib.Path(__file__).parent
GRAPH = HERE / "pets.yaml"  # what is read, decoded and augmented
CHECKPOINT = HERE / "checkpoint.pt"
CLASSES = 3  # cat, dog, emu
EPOCHS = 3
SAVE_EVERY = 100  # batches
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def unpack(batch):
    image = batch["image"]  # u8[batch, height, width, channels]
    return image.permute(0, 3, 1, 2).float() / 255 - 0.5, batch["label"].flatten().long()


def block(inputs, outputs):
    return [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]


torch.manual_seed(7)
model = nn.Sequential(*block(3, 16), *block(16, 32), *block(32, 64),
                      nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(256, CLASSES)).to(DEVICE)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loader = brigade.Loader(GRAPH, "train", device=DEVICE)  # on a GPU, batches are copied ahead


def evaluate():
    right = count = 0
    model.eval()
    with torch.no_grad(), brigade.Loader(GRAPH, "evaluate", device=DEVICE) as batches:
        for batch in batches:
            image, label = unpack(batch)
            right += (model(image).argmax(1) == label).sum().item()
            count += len(label)
    model.train()
    return right / count


def save(epoch):
    torch.save({"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict(),
                "loader": loader.state_dict()}, f"{CHECKPOINT}.new")
    os.replace(f"{CHECKPOINT}.new", CHECKPOINT)  # the old one stays until the new one is complete


first = 0
if CHECKPOINT.exists():
    saved = torch.load(CHECKPOINT, map_location=DEVICE)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    loader.load_state_dict(saved["loader"])  # continues with the rest of that epoch
    first = saved["epoch"]
    print(f"resuming from {CHECKPOINT}: {first} of {EPOCHS} epochs are done")

for epoch in range(first, EPOCHS):
    for step, batch in enumerate(loader, 1):
        image, label = unpack(batch)
        loss = nn.functional.cross_entropy(model(image), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % SAVE_EVERY == 0:
            print(f"epoch {epoch + 1}: {step} batches, loss {loss.item():.3f}", flush=True)
            save(epoch)
    print(f"epoch {epoch + 1}: accuracy {evaluate():.3f}", flush=True)
    save(epoch + 1)
loader.close()
