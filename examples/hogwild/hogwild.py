"""Hogwild on Fashion-MNIST: several trainers, one set of parameters, no lock.

    python3 hogwild.py

Trains with two processes and then with one, and prints how many test images each knows.
"""

import pathlib
import sys

import brigade
import torch

GRAPH = pathlib.Path(__file__).with_name("hogwild.yaml")


def make_model():
    torch.manual_seed(7)
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 64), torch.nn.ReLU(),
                               torch.nn.Linear(64, 10))


def forward(model, image):
    return model(image.float().div(255).sub(0.3))


@brigade.stage
class Trainer:
    def __init__(self, worker, lr):
        torch.set_num_threads(worker.threads)
        self.model = make_model()
        brigade.share_parameters(self.model, worker.shared("weights"))  # replica 0's go in
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr)

    def __call__(self, image, label):
        self.optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(
            forward(self.model, torch.from_numpy(image.copy())),
            torch.from_numpy(label.astype("int64")))
        loss.backward()
        self.optimizer.step()  # into the memory of all


def train(replicas):
    with brigade.open(GRAPH, set={"stages.train.replicas": replicas}, tensors="torch") as run:
        weights = run.shared("weights")
        test = [batch.clone() for batch in run["test"]]
        run.wait()
    model = make_model()
    brigade.share_parameters(model, weights, fill=False)
    with torch.no_grad():
        known = sum((forward(model, batch["image"]).argmax(1) == batch["label"]).sum().item()
                    for batch in test)
    return known / sum(batch.size for batch in test)


if __name__ == "__main__":
    together, alone = train(2), train(1)
    print(f"two trainers: {together:.3f} of the test images, one trainer: {alone:.3f}")
    sys.exit(0 if min(together, alone) > 0.82 and together > alone - 0.03 else 1)
