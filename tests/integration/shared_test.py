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
                   "it is f32[8], and ", "state.npy holds f32[9]")
        self.check("state: {dtype: f32, shape: [9], init: replica_0}",
                   "replica 0 of first and second would each initialise it", second="state")
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
                    and "has written beyond the end of its part" in line]
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
        self.assertTrue(saved.read_bytes().endswith(36 * b"7"))
        for option, expected in (("--resume", b"9"), ("--overwrite", b"7")):  # and the control
            saved.write_bytes(npy((9,), b"9"))
            finished = self.run_graph(graph, "--quiet", option)
            self.assertEqual(finished.code, 0, finished.err)
            self.assertTrue(saved.read_bytes().endswith(36 * expected), option)


if __name__ == "__main__":
    main()
