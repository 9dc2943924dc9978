"""timm: FastCollateMixup as collate_fn, and the loader that keeps one iterator for all epochs."""

import numpy
import torch
from timm.data import FastCollateMixup
from timm.data.loader import MultiEpochsDataLoader

import brigade
from common import same


class Images:
    def __len__(self):
        return 40

    def __getitem__(self, i):
        return numpy.full((3, 8, 8), i, numpy.uint8), i % 10


class ManyEpochs(MultiEpochsDataLoader, brigade.DataLoader):
    """timm's class over Brigade's."""


def program(DataLoader):
    numpy.random.seed(3)
    mixup = FastCollateMixup(mixup_alpha=1.0, num_classes=10)
    images = [(x.tolist(), y.tolist()) for x, y in DataLoader(Images(), 8, collate_fn=mixup)]
    torch.manual_seed(3)
    several = MultiEpochsDataLoader if DataLoader is torch.utils.data.DataLoader else ManyEpochs
    loader = several(Images(), batch_size=8, shuffle=True, num_workers=2,
                     collate_fn=FastCollateMixup(prob=0.0, num_classes=10))
    return {"mixup in the calling process": images,
            "MultiEpochsDataLoader": [[x[:, 0, 0, 0].tolist() for x, _ in loader]
                                      for _ in range(3)]}


if __name__ == "__main__":
    same(program, world=1)
