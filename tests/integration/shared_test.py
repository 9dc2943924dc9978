#!/usr/bin/env python3
"""Bad use of shared tensors is one line, and nothing is left of it."""

import struct

from brigade_program import ProgramTest, main

GRAPH = """
shared: {SHARED}
stages:
  numbers: {producer: synthetic, params: {count: 100, shape: [4], dtype: f32}}
  first: {transform: passthrough, from: numbers, replicas: 3, shared: state}
  second: {transform: passthrough, from: first, shared: SECOND}
  count: {consumer: count, from: second}
"""


def npy(shape):
    """A file of NumPy's with f32 zeros."""
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + bytes(4 * shape[0])


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


if __name__ == "__main__":
    main()
