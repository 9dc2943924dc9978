"""Lightning's Trainer with its own launcher, which starts the script again for the other rank."""

from common import same
from lightning_trainer import Numbers, fit


def program(DataLoader):
    return {"two epochs": fit(lambda: DataLoader(Numbers(103), 8, shuffle=True, num_workers=2),
                              max_epochs=2)}


if __name__ == "__main__":
    same(program, world=1)
