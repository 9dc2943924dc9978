#!/usr/bin/env python3
"""Machines that are not as they should be: small /dev/shm, nowhere to write, files that vanish."""

import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import brigade_program
from brigade_program import ProgramTest, line, main, workers_of
from idx_files import images, labels

CAN_MOUNT = subprocess.run(["unshare", "--mount", "true"], capture_output=True,
                           check=False).returncode == 0


class Environment(ProgramTest):
    @unittest.skipUnless(CAN_MOUNT, "needs the right to mount (unshare --mount)")
    def test_a_dev_shm_of_no_size_does_not_matter(self):
        path = self.write("graph.yaml", line(count=2000))
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c",
             'mount -t tmpfs -o size=4k,mode=1777 tmpfs /dev/shm && exec "$@"', "sh",
             str(brigade_program.PROGRAM), "run", str(path)],
            capture_output=True, text=True, check=False, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)

    def write_files(self, count):
        for name, content in (("images", images(count)), ("labels", labels(count))):
            (self.folder / "new").write_bytes(content)
            (self.folder / "new").replace(self.folder / f"{name}.idx")

    def graph_of_files(self):
        self.write_files(500)
        return """
epochs: 1000
stages:
  images: {producer: idx_images, params: {images: images.idx, labels: labels.idx}}
  slow: {transform: delay, from: images, params: {ms: 0.2}}
  end: {consumer: count, from: slow}
"""

    def test_a_file_that_vanishes_is_still_read(self):
        run = self.start_and_wait_for_samples(self.graph_of_files(), 3, "end")
        (self.folder / "images.idx").unlink()
        time.sleep(0.3)
        self.assertFalse(run.ended())
        os.kill(run.pid, signal.SIGINT)
        self.assertEqual(run.finish().code, 130)

    def test_a_file_that_is_gone_when_its_reader_is_started_again_is_named(self):
        run = self.start_and_wait_for_samples(self.graph_of_files(), 3, "end")
        (self.folder / "images.idx").unlink()
        os.kill(workers_of(run.pid)["images.0"], signal.SIGKILL)
        finished = run.finish()
        self.assertEqual(finished.code, 1)
        self.assertEqual(len(finished.errors()), 1, finished.err)
        self.assertIn("images.idx", finished.errors()[0])

class Stalls(ProgramTest):
    def hanging(self, stall, count=100):
        return f"""
stages:
  numbers: {{producer: synthetic, params: {{count: {count}, shape: [4]}}}}
  slow:
    transform: delay
    from: numbers
    params: {{ms: 3600000, every: 50}}
    poison_after: 1
    on_error: {{skip: 5}}
    stall_timeout: {stall}
  end: {{consumer: count, from: slow}}
"""

    def test_where_it_is_asked_for_it_is_aborted_with_a_backtrace(self):
        finished = self.run_graph(self.hanging("{after: 1s, then: abort}"))
        self.assertEqual(finished.code, 0, finished.err)
        self.assertIn("; aborted to print a backtrace", finished.err)
        self.assertIn("slow.0: backtrace: ", finished.err)
        self.assertRegex(finished.err, r"slow\.0: backtrace: .*\(brigade::\w+.*\(.*\).*\+0x")
        self.assertIn("was killed by SIGABRT with sample 0 in flight", finished.err)
        self.assertIn("with sample 50 in flight", finished.err)


if __name__ == "__main__":
    main()
