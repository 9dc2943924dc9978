"""Lightning's Fabric: setup_dataloaders(), and save() and load() of the loader's state."""

import os
import tempfile

import lightning

from common import Numbers, Stream, read, same


def program(DataLoader):
    fabric = lightning.Fabric(accelerator="cpu", strategy="ddp", devices=2)
    fabric.launch()
    fabric.seed_everything(1, verbose=False)
    loader = fabric.setup_dataloaders(DataLoader(Numbers(103), 8, shuffle=True, num_workers=2))
    found = {"two epochs": []}
    for epoch in range(2):
        loader.sampler.set_epoch(epoch)
        found["two epochs"].append(read(loader))
    found["iterable"] = read(fabric.setup_dataloaders(DataLoader(Stream(96), 8, num_workers=2)))
    made = loader._dataloader  # Fabric's own has no state_dict(), and counts epochs unsaved
    if hasattr(made, "state_dict"):
        iterator = iter(made)
        next(iterator)
        path = os.path.join(tempfile.gettempdir(), f"fabric_{os.environ['MASTER_PORT']}")
        fabric.save(path, {"loader": made.state_dict()})
        rest = [batch["i"].tolist() for batch in iterator]
        made.load_state_dict(fabric.load(path)["loader"])
        assert read(made) == rest
    return found


if __name__ == "__main__":
    same(program)
