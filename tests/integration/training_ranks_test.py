#!/usr/bin/env python3
"""Ranks that train one model: as one process would with batches of all of them, and one line for a
rank that is missing."""

import csv
import json
import os
import pathlib
import signal
import socket

import idx_files
from brigade_program import ProgramTest, Running, main, wait_until

GRAPH = """
seed: 7
epochs: EPOCHS
stages:
  images:
    producer: idx_images
    shuffle: true
    params: {images: images, labels: labels}
    batch: BATCH
  train:
    consumer: torch_classifier
    from: images
    device: cpu
    params:
      {model: mlp, schedule: constant, lr: 0.01, pad: 1, crop: 8, flip: 0.5, loss_file: LOSSES}
"""
SAMPLES = 256


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class TrainingRanks(ProgramTest):
    def setUp(self):
        module = self.torch_module()
        if b"built without libgloo-dev" in module.read_bytes():
            self.skipTest("this build's ranks do not train together on CPUs: it has no gloo")
        super().setUp()
        (self.folder / "images").write_bytes(idx_files.images(SAMPLES, 8, 8))
        (self.folder / "labels").write_bytes(idx_files.labels(SAMPLES))
        self.port = free_port()

    def start(self, name, batch, ranks=None, epochs=3, params=()):
        text = GRAPH.replace("LOSSES", f"{name}.csv").replace("BATCH", str(batch))
        graph = self.folder / f"{name}.yaml"
        graph.write_text(text.replace("EPOCHS", str(epochs)))
        environment = {"TMPDIR": str(self.temporary), "MASTER_ADDR": "127.0.0.1",
                       "MASTER_PORT": str(self.port)}
        if ranks:
            environment |= {"RANK": str(ranks[0]), "WORLD_SIZE": str(ranks[1])}
        sets = [word for param in params for word in ("--set", f"stages.train.params.{param}")]
        self.runs.append(Running(["run", graph, "--summary", f"{name}.json", *sets],
                                 environment=environment, cwd=self.folder))
        return self.runs[-1]

    def finish(self, run, code=0):
        finished = run.finish()
        self.assertEqual(finished.code, code, finished.err)
        return finished

    def losses(self, name):
        with open(self.folder / f"{name}.csv", newline="") as file:
            return [float(row["loss"]) for row in csv.DictReader(file)]

    def results(self, name):
        return json.loads((self.folder / f"{name}.json").read_text())["results"]["train"]

    def test_two_ranks_are_one_process_with_twice_the_batch(self):
        self.finish(self.start("one", 32))
        ranks = [self.start(f"rank{rank}", 16, (rank, 2)) for rank in range(2)]
        for run in ranks:
            self.finish(run)
        one = self.losses("one")
        self.assertEqual(len(one), 3 * SAMPLES // 32)
        both = list(zip(self.losses("rank0"), self.losses("rank1"), strict=True))
        self.assertEqual(len(both), len(one))
        for step, (pair, alone) in enumerate(zip(both, one)):
            self.assertAlmostEqual(sum(pair) / 2, alone, delta=1e-4, msg=f"step {step + 1}")
        for rank in ("rank0", "rank1"):  # each knows what all have learned
            self.assertAlmostEqual(self.results(rank)["train_accuracy"],
                                   self.results("one")["train_accuracy"], delta=2 / SAMPLES)

    def test_apart_they_learn_something_else(self):
        self.finish(self.start("one", 32))
        for rank in range(2):
            self.finish(self.start(f"rank{rank}", 16, (rank, 2), params=["data_parallel=false"]))
        mean = (self.losses("rank0")[-1] + self.losses("rank1")[-1]) / 2
        self.assertGreater(abs(mean - self.losses("one")[-1]), 1e-3)

    def test_a_rank_that_never_comes_is_a_line(self):
        finished = self.finish(self.start("alone", 16, (0, 2), params=["rank_timeout=1s"]), code=1)
        self.assertEqual(len(finished.errors()), 1, finished.err)
        self.assertIn(f"rank 0: 2 ranks did not meet at 127.0.0.1:{self.port} within 1 s",
                      finished.errors()[0])

    def test_a_rank_that_is_killed_ends_the_other_with_a_line(self):
        ranks = [self.start(f"rank{rank}", 16, (rank, 2), epochs=100000) for rank in range(2)]
        wait_until(lambda: (self.folder / "rank1.csv").exists() and len(self.losses("rank1")) > 16,
                   "the ranks train")
        os.kill(ranks[1].pid, signal.SIGKILL)
        finished = self.finish(ranks[0], code=1)
        self.assertEqual(len(finished.errors()), 1, finished.err)
        self.assertIn("rank 0 of 2 lost another rank", finished.errors()[0])


if __name__ == "__main__":
    main()
