"""What the programs of this folder have in common: datasets, ranks, and the comparison of what
torch's DataLoader and brigade's give to the same program."""

import json
import os
import signal
import socket
import subprocess
import sys

import torch
from torch.utils import data

import brigade

LOADERS = {"theirs": data.DataLoader, "ours": brigade.DataLoader}
SECONDS = 300  # that no program here needs
GIVEN = "given by rank "


class Numbers(data.Dataset):
    """Samples that say which they are, and which process has made them."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        if not 0 <= i < self.count:
            raise IndexError(i)
        return {"i": i, "x": torch.tensor([i / self.count]), "pid": os.getpid()}


class Stream(data.IterableDataset):
    """The same without a length; workers share it."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        info = data.get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        for i in range(first, self.count, step):
            yield {"i": i, "x": torch.tensor([i / self.count]), "pid": os.getpid()}


def kill(batch):
    """The worker that has made it, once it has gone on; where it is one of brigade's."""
    pid = int(batch["pid"][0])
    if sys.argv[1] == "ours" and pid != os.getpid():
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # another rank has killed it


def read(loader):
    """Batches as lists of samples. A worker is killed after the first."""
    batches = []
    for batch in loader:
        if not batches:
            kill(batch)
        batches.append(batch["i"].tolist())
    return batches


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def run_torchrun(kind, world):
    """All that the ranks print."""
    return subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={world}",
         f"--master-port={free_port()}", sys.argv[0], kind], stdout=subprocess.PIPE, text=True,
        check=True, timeout=SECONDS).stdout


def given_in(output):
    lines = [line for line in output.splitlines() if line.startswith(GIVEN)]
    return [json.loads(line[len(GIVEN):].split(" ", 1)[1]) for line in sorted(lines)]


def run_ranks(kind, world, variables):
    """All that the ranks print."""
    shared = {"WORLD_SIZE": str(world), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(),
              "LOCAL_WORLD_SIZE": str(world)} if world > 1 else {}
    ranks = []
    for rank in range(world):
        own = {"RANK": str(rank), "LOCAL_RANK": str(rank), "GROUP_RANK": "0",
               "TORCHELASTIC_RUN_ID": "none"} if world > 1 else {}  # as torchrun has it
        ranks.append(subprocess.Popen(
            [sys.executable, sys.argv[0], kind], stdout=subprocess.PIPE, text=True,
            env={**os.environ, **shared, **own, **variables}))
    try:
        given = [rank.communicate(timeout=SECONDS)[0] for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    assert all(rank.returncode == 0 for rank in ranks), [rank.returncode for rank in ranks]
    return "\n".join(given)


def same(program, world=2, differs=(), torchrun=False, **variables):
    """Runs `program(DataLoader)`, which gives a dict, with both, and compares rank by rank all but
    what is named in `differs`. Gives what ours has given. `torchrun`: by that program."""
    if len(sys.argv) > 1:
        given = json.dumps(program(LOADERS[sys.argv[1]]))
        print(f"\n{GIVEN}{os.environ.get('LOCAL_RANK', 0)} {given}", flush=True)
        sys.exit()
    theirs, ours = (given_in(run_torchrun(kind, world) if torchrun else
                             run_ranks(kind, world, variables)) for kind in ("theirs", "ours"))
    for rank, (one, other) in enumerate(zip(theirs, ours)):
        for name in one:
            assert name in differs or one[name] == other[name], \
                f"rank {rank}, {name}:\n{one[name]}\n{other[name]}"
    assert len(theirs) == len(ours) >= (world if torchrun else 1)
    print(f"{os.path.basename(sys.argv[0])}: the same on {len(ours)} ranks: {', '.join(ours[0])}")
    return ours
