"""The train.py of `brigade init`: it trains, evaluates and resumes, on images of IDX files and of
folders."""

import gzip
import importlib.util
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

import brigade

PROGRAM = pathlib.Path(brigade.__file__).parent / "native" / "bin" / "brigade"
HANG_SECONDS = 240
ENVIRONMENT = {**os.environ, "BRIGADE_PYTHON": sys.executable, "OMP_NUM_THREADS": "1",
               "CUDA_VISIBLE_DEVICES": ""}
TORCH = importlib.util.find_spec("torch") is not None


def idx(shape, data):
    return gzip.compress(struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape) + bytes(data))


@unittest.skipUnless(TORCH, "torch is not installed (python3-torch)")
class TrainScript(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def write_digits(self):
        """Two classes that a network tells apart at once: dark and bright."""
        rng = random.Random(1)
        folder = self.folder / "digits"
        folder.mkdir()
        for name, count in (("train", 640), ("t10k", 64)):
            labels = [rng.randrange(2) for _ in range(count)]
            pixels = b"".join(bytes(byte // 4 + 128 * label for byte in rng.randbytes(784))
                              for label in labels)
            (folder / f"{name}-images-idx3-ubyte.gz").write_bytes(idx((count, 28, 28), pixels))
            (folder / f"{name}-labels-idx1-ubyte.gz").write_bytes(idx((count,), labels))
        return folder

    def brigade(self, *words):
        done = subprocess.run([PROGRAM, *words], text=True, capture_output=True, cwd=self.folder,
                              env=ENVIRONMENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def init(self, data, name):
        """A project in a folder of its own, made small by what a user would change."""
        (self.folder / name).mkdir()
        said = self.brigade("init", data, "--python", "--out", f"{name}/graph.yaml")
        self.assertTrue(said.endswith(f"wrote {name}/graph.yaml and {name}/train.py; `"
                                      f"{sys.executable} {name}/train.py` trains, evaluates and "
                                      "resumes\n"), said)
        for file, before, after in (("graph.yaml", "batch: ", "batch: 16 # "),
                                    ("train.py", "EPOCHS = 3", "EPOCHS = 2"),
                                    ("train.py", "SAVE_EVERY = 100", "SAVE_EVERY = 3")):
            path = self.folder / name / file
            self.assertIn(before, path.read_text())
            path.write_text(path.read_text().replace(before, after))
        return [sys.executable, "-B", f"{name}/train.py"]

    def run_script(self, command):
        done = subprocess.run(command, text=True, capture_output=True, cwd=self.folder,
                              env=ENVIRONMENT, timeout=HANG_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def weights(self, name):
        import torch
        return torch.load(self.folder / name / "checkpoint.pt")["model"]

    def test_trains_and_resumes_exactly(self):
        import torch
        data = self.write_digits()
        whole = self.run_script(self.init(data, "whole"))
        self.assertEqual([line.rpartition(" ")[0] for line in whole if "accuracy" in line],
                         ["epoch 1: accuracy", "epoch 2: accuracy"])
        self.assertGreater(float(whole[-1].rpartition(" ")[2]), 0.9)

        command = self.init(data, "killed")
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=self.folder,
                              env=ENVIRONMENT) as child:
            for line in child.stdout:
                if line.startswith("epoch 2: 30 batches"):  # 27 are saved
                    child.send_signal(signal.SIGKILL)
        self.assertEqual(child.returncode, -signal.SIGKILL)
        rest = self.run_script(command)
        self.assertRegex(rest[0], r"^resuming from .*/killed/checkpoint.pt: 1 of 2 epochs are done")
        self.assertEqual(rest[-1], whole[-1])
        for one, other in zip(self.weights("whole").values(), self.weights("killed").values()):
            self.assertTrue(torch.allclose(one.float(), other.float(), atol=1e-3))
        self.assertEqual(len(self.run_script(command)), 1, "nothing is left to train")

    def test_trains_on_folders_of_images(self):
        self.brigade("init", self.write_digits(), "--python")
        for part, count in (("train", 64), ("val", 32)):
            for kind in ("above", "below"):
                self.brigade("sample", "digits.yaml", "--stage", "images", "-n", str(count),
                             "--out", f"photos/{part}/{kind}")
                (self.folder / "photos" / part / kind / "samples.tsv").unlink()
        said = self.run_script(self.init("photos", "project"))
        self.assertRegex(said[-1], r"^epoch 2: accuracy [01]\.\d+$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
