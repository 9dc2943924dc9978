#include "pipeline/cli/templates/train_script.h"

#include <algorithm>

#include <brigade/text.h>
#include "pipeline/cli/templates/template_text.h"

namespace brigade {
namespace {

constexpr std::string_view kScript =
    R"py("""Trains a small network on the images of @graph@, and evaluates it after each epoch.

    python train.py

Stop it when you like: it saves checkpoint.pt, and the next start resumes there.
"""

import os
import pathlib

import brigade
import torch
from torch import nn

HERE = pathlib.Path(__file__).parent
GRAPH = HERE / @path@  # what is read, decoded and augmented
CHECKPOINT = HERE / "checkpoint.pt"
CLASSES = @count@@classes@
EPOCHS = 3
SAVE_EVERY = 100  # batches
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def unpack(batch):
    image = batch["image"]  # u8[batch, height, width, channels]
    return image.permute(0, 3, 1, 2).float() / 255 - 0.5, batch["label"].flatten().long()


def block(inputs, outputs):
    return [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]


torch.manual_seed(7)
model = nn.Sequential(*block(@channels@, 16), *block(16, 32), *block(32, 64),
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
)py";

/// Behind the number of classes: which they are.
std::string classes_comment(const std::vector<std::string>& names) {
  constexpr std::size_t kShownMax = 5;
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    if (!is_utf8(name)) return "";
    if (shown.size() == kShownMax) {
      shown.emplace_back("...");
      break;
    }
    shown.push_back(comment_text(name));
  }
  return shown.empty() ? "" : concat("  # ", join(shown, ", "));
}

}  // namespace

std::string train_script(const std::string& graph, const FoundData& data) {
  return fill_template(kScript, {{"graph", comment_text(graph)},
                                 {"path", quote(graph)},
                                 {"count", concat(std::max(data.class_count, data.classes.size()))},
                                 {"classes", classes_comment(data.classes)},
                                 {"channels", data.kind == FoundData::Kind::idx ? "1" : "3"}});
}

}  // namespace brigade
