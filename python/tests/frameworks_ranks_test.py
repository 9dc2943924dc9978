"""Ranks of torch.distributed, each with a brigade.DataLoader: what they read, and what they are
told."""

import socket
import subprocess
import sys
import unittest

try:
    import torch  # noqa: F401: of the programs
except ImportError:
    print("skipped: torch is not installed (python3-torch)")
    sys.exit(77)

from processes import WITH_TESTS

SECONDS = 120  # that no program here needs

ONE_RANK = """if True:
    import sys
    import torch
    import torch.distributed as dist
    from torch.utils import data
    import brigade
    dist.init_process_group("gloo")
    kind = {"ours": brigade.DataLoader, "theirs": data.DataLoader}[sys.argv[1]]
    dataset = list(range(101))
    sampler = data.DistributedSampler(dataset, seed=3)
    loader = kind(dataset, 8, sampler=sampler, num_workers=2)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        read = torch.cat(list(loader))
        every = [torch.empty_like(read) for _ in range(2)]
        dist.all_gather(every, read)
        print([one.tolist() for one in every])
    uneven = kind(list(range(16 + 8 * dist.get_rank())), 8)
    print(len(uneven), len(list(uneven)))
    dist.destroy_process_group()"""


class Ranks(unittest.TestCase):
    def run_both(self, code, *arguments):
        """(stdout, stderr) of each rank."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        ranks = [subprocess.Popen(
            [sys.executable, "-B", "-c", code, *arguments], stdout=subprocess.PIPE, text=True,
            stderr=subprocess.PIPE, env={**WITH_TESTS, "RANK": str(rank), "WORLD_SIZE": "2",
                                         "MASTER_PORT": port, "MASTER_ADDR": "127.0.0.1"})
            for rank in range(2)]
        printed = [rank.communicate(timeout=SECONDS) for rank in ranks]
        self.assertEqual([rank.returncode for rank in ranks], [0, 0], printed)
        return printed

    def test_each_reads_what_torch_s_loader_reads_there(self):
        printed = {kind: self.run_both(ONE_RANK, kind) for kind in ("theirs", "ours")}
        theirs, ours = ([out for out, _ in one] for one in printed.values())
        self.assertEqual(ours, theirs)
        self.assertEqual([out.splitlines()[-1] for out in ours], ["2 2", "3 3"])
        self.assertEqual(set(sum(eval(ours[0].splitlines()[0]), [])), set(range(101)))

    def test_a_rank_that_reads_everything_says_so_once(self):
        code = """if True:
            import torch.distributed as dist
            import brigade
            dist.init_process_group("gloo")
            loader = brigade.DataLoader(list(range(9)), 3, shuffle=True)
            print(sum(len(list(loader)) for _ in range(2)))
            dist.destroy_process_group()"""
        (out, error), (other_out, other) = self.run_both(code)
        self.assertEqual((out, other_out, error), ("6\n", "6\n", ""))
        self.assertRegex(other, "^DataLoader: rank 1 of 2 reads all 9 samples, .* RandomSampler "
                                "does not divide them.*\n$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
