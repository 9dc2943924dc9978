"""PyTorch Geometric: its Collater, and a batch of graphs on its way from a worker."""

import os

import torch
import torch_geometric.loader
from torch_geometric.data import Data
from torch_geometric.loader.dataloader import Collater

import brigade
from common import kill, same


class Graphs:
    def __len__(self):
        return 30

    def __getitem__(self, i):
        edges = torch.tensor([[0, 1], [1, 0]]).repeat(1, 1 + i % 3)
        return Data(x=torch.full((2, 3), float(i)), edge_index=edges, pid=os.getpid())


class OfGraphs(torch_geometric.loader.DataLoader, brigade.DataLoader):
    """Geometric's class over Brigade's."""


def read_graphs(loader):
    found = []
    for batch in loader:
        if not found:
            kill({"pid": batch.pid})
        found.append([batch.x.tolist(), batch.edge_index.tolist(), batch.batch.tolist(),
                      batch.ptr.tolist(), batch.num_graphs])
    return found


def program(DataLoader):
    graphs, of_graphs = Graphs(), torch_geometric.loader.DataLoader
    if DataLoader is brigade.DataLoader:
        of_graphs = OfGraphs
    torch.manual_seed(3)
    return {"Collater": read_graphs(DataLoader(graphs, 8, shuffle=True, num_workers=2,
                                               collate_fn=Collater(graphs))),
            "its DataLoader": read_graphs(of_graphs(graphs, 8, shuffle=True, num_workers=2))}


if __name__ == "__main__":
    same(program, world=1)
