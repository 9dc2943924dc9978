#!/usr/bin/env python3
"""Bad use of shared tensors is one line, and nothing is left of it."""

import struct

import brigade_program
from brigade_program import ProgramTest, main

GRAPH = """
shared: {SHARED}
stages:
  numbers: {producer: synthetic, params: {count: 100, shape: [4], dtype: f32}}
  first: {transform: passthrough, from: numbers, replicas: 3, shared: state}
  second: {transform: passthrough, from: first, shared: SECOND}
  count: {consumer: count, from: second}
"""


def npy(shape, byte=b"\0"):
    """A file of NumPy's with f32, zeros unless their bytes are given."""
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + 4 * shape[0] * byte


def elements(path):
    """Of a file of 9 elements that a run has saved: they lie in front of what tells of the run."""
    return path.read_bytes()[-36 - 56:-56]


class BadUse(ProgramTest):
    def check(self, shared, *expected, second="[]", code=2):
        finished = self.start(GRAPH.replace("SHARED", shared).replace("SECOND", second)).finish()
        self.assertEqual(finished.code, code, finished.err)
        errors = [line for line in finished.err.splitlines() if "error: " in line]
        self.assertEqual(len(errors), 1 if expected else 0, finished.err)
        for text in expected:
            self.assertIn(text, errors[0])

    def test_is_a_line_and_nothing_is_left(self):
        (self.folder / "state.npy").write_bytes(npy((9,)))
        self.check("state: {dtype: f32, shape: [9], init: state.npy}", code=0)  # the control
        self.check("state: {dtype: f32, shape: [8], init: state.npy}",
                   "expected f32[8], but ", "state.npy holds f32[9]")
        self.check("state: {dtype: f32, shape: [9], init: replica_0}",
                   "replica 0 of first and second would all initialize it", second="state")
        self.check("state: {dtype: f32, shape: [10], access: own_part}",
                   "its first dimension, 10, does not divide among 3 replicas")
        self.check("state: {dtype: f32, shape: [9000000000000]}", "memory")

    def test_a_store_behind_a_part_is_found_under_poison(self):
        light = brigade_program.PROGRAM.parent.parent / "tests" / "plugins" / "light.so"
        for beyond in (0, 1):
            finished = self.run_graph(f"""
shared: {{result: {{dtype: u8, shape: [200], access: own_part}}}}
stages:
  ticks: {{producer: ticks, plugin: {light}, params: {{count: 100}}}}
  work: {{transform: fills, plugin: {light}, from: ticks, replicas: 2, shared: result,
         params: {{beyond: {beyond}}}}}
  total: {{consumer: total, plugin: {light}, from: work}}
""", "--quiet", environment={"BRIGADE_POISON": "1"})
            self.assertEqual(finished.code, beyond, finished.err)
            said = [line for line in finished.errors() if 'shared tensor "result": replica ' in line
                    and "wrote beyond the end of its part" in line]
            self.assertEqual(bool(said), bool(beyond), finished.err)  # by one or by both


class Saved(ProgramTest):
    def test_beside_a_checkpoint_and_a_resumed_run_begins_with_it(self):
        first, saved = self.folder / "first.npy", self.folder / "state.npy"
        checkpoint = self.folder / "run.ckpt"  # written behind its position
        first.write_bytes(npy((9,), b"7"))
        graph = f"""
checkpoint: {{file: {self.folder}/run.ckpt, every: 100}}
shared: {{state: {{dtype: f32, shape: [9], init: {first}, save: {saved}}}}}
stages:
  numbers: {{producer: synthetic, params: {{count: 2000, shape: [4], dtype: f32}}}}
  work: {{transform: passthrough, from: numbers, shared: state}}
  end: {{consumer: count, from: work}}
"""
        run = self.start(graph, "--quiet", "--set", "stages.end.params.sleep_ms=5")
        brigade_program.wait_until(lambda: checkpoint.exists() or run.ended(), "what is saved")
        self.assertFalse(run.ended(), "it came to its end before it was killed")
        run.process.kill()
        self.assertNotEqual(run.finish().code, 0)
        self.assertEqual(elements(saved), 36 * b"7")
        first.write_bytes(npy((9,), b"8"))
        for option, expected in (("--resume", b"7"), ("--overwrite", b"8")):  # and the control
            finished = self.run_graph(graph, "--quiet", option)
            self.assertEqual(finished.code, 0, finished.err)
            self.assertEqual(elements(saved), 36 * expected, option)

    def test_a_file_that_is_not_of_the_run_is_an_error(self):
        saved, other = self.folder / "state.npy", self.folder / "other.npy"
        graph = f"""
epochs: 2
checkpoint: {{file: {self.folder}/run.ckpt}}
shared: {{state: {{dtype: f32, shape: [9], save: {saved}}}}}
stages:
  numbers: {{producer: synthetic, params: {{count: 20, shape: [4], dtype: f32}}}}
  work: {{transform: passthrough, from: numbers, shared: state}}
  end: {{consumer: count, from: work}}
"""
        self.assertEqual(self.run_graph(graph, "--quiet").code, 0)
        self.assertEqual(self.run_graph(graph.replace("state.npy", "other.npy").replace(
            "run.ckpt", "other.ckpt"), "--quiet").code, 0)
        whole = saved.read_bytes()
        damaged = bytearray(whole)
        damaged[-70] ^= 1  # an element
        for wrong, said in ((bytes(damaged), f"{saved}: it is damaged"),
                            (other.read_bytes(), f"{saved} belongs to a different run than the "
                                                 f"checkpoint {self.folder}/run.ckpt"),
                            (npy((9,)), "another program wrote it")):
            saved.write_bytes(wrong)
            refused = self.run_graph(graph, "--quiet", "--resume", "--set", "epochs=3")
            self.assertEqual(refused.code, 1, refused.err)
            self.assertEqual(len(refused.errors()), 1, refused.err)
            self.assertIn(said, refused.errors()[0])
            self.assertEqual(saved.read_bytes(), wrong, "what is there is left alone")
        saved.write_bytes(whole)  # the control; and the run that resumed is still that run
        for epochs in (3, 4):
            finished = self.run_graph(graph, "--quiet", "--resume", "--set", f"epochs={epochs}")
            self.assertEqual(finished.code, 0, finished.err)

    def test_numpy_reads_it_and_so_do_sources_and_weights(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed (python3-numpy)")
        first, saved = self.folder / "first.npy", self.folder / "state.npy"
        numpy.save(first, numpy.arange(9, dtype="f4"))
        finished = self.run_graph(f"""
shared: {{state: {{dtype: f32, shape: [9], init: {first}, save: {saved}}}}}
stages:
  numbers: {{producer: synthetic, params: {{count: 20, shape: [4], dtype: f32}}, shared: state}}
  end: {{consumer: count, from: numbers}}
""", "--quiet")
        self.assertEqual(finished.code, 0, finished.err)
        self.assertGreater(saved.stat().st_size, first.stat().st_size)
        for mode in (None, "r"):
            self.assertEqual(numpy.load(saved, mmap_mode=mode).tolist(), list(range(9)))
        with open(saved, "rb") as file:
            self.assertEqual(numpy.load(file).tolist(), list(range(9)))
        summary = self.summary(f"""
stages:
  rows: {{producer: npy, params: {{files: {{x: {saved}}}}}, weights: {saved}}}
  end: {{consumer: count, from: rows}}
""")
        self.assertEqual(summary["results"]["end"]["samples"], 9)


if __name__ == "__main__":
    main()
