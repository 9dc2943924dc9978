#!/usr/bin/env python3
"""Runs that go well: the same samples whatever runs them, a summary that scripts can rely on."""

import json
import os
import struct

from brigade_program import ENDLESS, ENDLESS_WORKERS, ProgramTest, line, main, workers_of


class Runs(ProgramTest):
    def checksums(self, *arguments, **shape):
        results = self.summary(line(count=5000, epochs=2, **shape), *arguments)["results"]["end"]
        return results["checksum"], results["set_checksum"]

    def test_any_number_of_replicas_and_any_batch_give_the_same_samples(self):
        expected = self.checksums(replicas=1)
        self.assertRegex(expected[0], "^[0-9a-f]{16}$")
        for shape in ({"replicas": 2}, {"replicas": 4}, {"replicas": 2, "batch": 64},
                      {"replicas": 3, "batch": 7}):
            with self.subTest(**shape):
                self.assertEqual(self.checksums(**shape), expected)
        self.assertEqual(self.checksums("--in-process", replicas=2), expected)

    def test_samples_of_many_sizes_travel_through_every_shape_of_line(self):
        def yaml(batch, replicas):
            return f"""
epochs: 2
stages:
  words: {{producer: synthetic, params: {{count: 1000, shape: [50, 3], dtype: u8, vary: true,
                                        fill: random}}, shuffle: true}}
  same: {{transform: passthrough, from: words, replicas: {replicas}}}
  slow: {{transform: delay, from: same, replicas: {replicas}}}
  end: {{consumer: count, from: {{stage: slow{batch}}}}}
"""
        expected = self.summary(yaml("", 1))["results"]["end"]
        self.assertEqual(expected["samples"], 2000)
        for batch in ("", ", batch: 7", ", batch: 64"):
            for arguments in ((), ("--in-process",)):
                with self.subTest(batch=batch, arguments=arguments):
                    found = self.summary(yaml(batch, 2), *arguments)["results"]["end"]
                    self.assertEqual(found["checksum"], expected["checksum"])

    def test_ranks_share_the_samples(self):
        yaml = """
epochs: 2
stages:
  numbers: {producer: synthetic, params: {count: 101}, shuffle: true}
  end: {consumer: count, from: {stage: numbers, batch: 16}}
"""
        def run(rank, world, *arguments):
            environment = {"RANK": str(rank), "WORLD_SIZE": str(world)}
            return self.summary(yaml, *arguments, environment=environment)["results"]["end"]

        # The order-independent checksum of a union is the exclusive or of its parts'.
        whole = int(run(0, 1, "--limit", 100)["set_checksum"], 16)
        parts = [run(rank, 4, "--limit", 100) for rank in range(4)]
        self.assertEqual([part["samples"] for part in parts], [50] * 4)
        union = 0
        for part in parts:
            union ^= int(part["set_checksum"], 16)
        self.assertEqual(union, whole)
        self.assertEqual(run(3, 4)["samples"], 52)  # 101 samples among 4: 26 each, some twice
        self.assertEqual(run(3, 4, "--set", "shard={uneven: drop}")["samples"], 50)
        failed = self.run_graph(yaml, "--set", "shard={uneven: error}",
                                environment={"RANK": "0", "WORLD_SIZE": "4"})
        self.assertEqual(failed.code, 1)
        self.assertIn("its 101 samples cannot be divided among 4 ranks", failed.err)

    def test_arrays_of_numpy_are_a_source(self):
        self.write_npy("images.npy", "|u1", "(100, 4, 4)", bytes(range(100)) * 16)
        self.write_npy("labels.npy", "<i8", "(100,)", struct.pack("<100q", *range(100)))
        yaml = """
stages:
  arrays: {producer: npy, params: {files: {image: images.npy, label: labels.npy}}, shuffle: true}
  end: {consumer: count, from: {stage: arrays, batch: 32}}
"""
        self.assertEqual(self.summary(yaml)["samples"], 100)
        (self.folder / "labels.npy").unlink()
        failed = self.run_graph(yaml)
        self.assertEqual(failed.code, 2)
        self.assertIn(':3:70: error: stage "arrays": parameter "files": there is no file or folder',
                      failed.err)

    def write_npy(self, name, dtype, shape, data):
        header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
        header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
        (self.folder / name).write_bytes(
            b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)

    def test_merge_takes_all_of_each_source(self):
        yaml = """
epochs: 2
stages:
  few: {producer: synthetic, params: {count: 100}, batch: 16}
  many: {producer: synthetic, params: {count: 1000}, batch: 64}
  end: {consumer: count, from: [few, many], join: merge, replicas: 2}
"""
        for arguments in ((), ("--in-process",)):
            with self.subTest(arguments=arguments):
                summary = self.summary(yaml, *arguments)
                self.assertEqual(summary["samples"], 2200)
                self.assertEqual([edge["delivered"] for edge in summary["edges"]], [200, 2000])

    def test_control_other_samples_have_another_checksum(self):
        self.assertNotEqual(self.checksums(), self.checksums("--set", "seed=8"))

    def test_several_consumers_share_the_samples(self):
        yaml = line(count=5000, replicas=2)
        one = self.summary(yaml)["results"]["end"]
        several = self.summary(yaml, "--set", "stages.end.replicas=3")["results"]["end"]
        self.assertEqual(several["samples"], 5000)
        self.assertEqual(several["set_checksum"], one["set_checksum"])
        self.assertIsNone(several["checksum"])

    def test_the_summary_has_what_scripts_rely_on(self):
        summary = self.summary(line(count=100, epochs=3, batch=32))
        self.assertEqual(set(summary), {"samples", "seconds", "samples_per_second",
                                        "first_sample_seconds", "epochs", "stages", "edges",
                                        "sources", "results"})
        self.assertEqual(summary["samples"], 300)
        self.assertEqual(summary["epochs"], 3)
        self.assertGreater(summary["seconds"], 0)
        self.assertGreater(summary["first_sample_seconds"], 0)
        self.assertAlmostEqual(summary["samples_per_second"],
                               summary["samples"] / summary["seconds"], delta=1)
        self.assertEqual([stage["name"] for stage in summary["stages"]],
                         ["numbers", "slow", "end"])
        for stage in summary["stages"]:
            self.assertEqual(set(stage), {"name", "samples", "busy", "wait_in", "wait_out",
                                          "restarts", "skipped"})
            self.assertEqual(stage["samples"], 300)
        for edge in summary["edges"]:
            self.assertEqual(set(edge), {"from", "to", "produced", "delivered", "dropped",
                                         "quarantined", "leaked"})
            self.assertEqual(edge["produced"], edge["delivered"] + edge["dropped"] +
                             edge["quarantined"])
            self.assertEqual(edge["leaked"], 0)

    def test_a_summary_to_standard_output_is_all_that_stands_there(self):
        finished = self.run_graph(line(count=100), "--summary", "-")
        self.assertEqual(finished.code, 0, finished.err)
        self.assertEqual(json.loads(finished.out)["samples"], 100)

    def test_limit_takes_the_first_samples(self):
        self.assertEqual(self.summary(line(), "--limit", 10)["samples"], 10)

    def test_drop_last_leaves_out_short_batches(self):
        yaml = line(count=100, epochs=2, batch=32).replace(
            "{consumer: count, from: slow}", "{consumer: count, from: slow, drop_last: true}")
        summary = self.summary(yaml)
        self.assertEqual(summary["samples"], 192)
        self.assertEqual(summary["edges"][1]["dropped"], 8)

    def test_workers_show_up_with_their_names(self):
        run = self.start_and_wait_for_workers(ENDLESS, ENDLESS_WORKERS)
        self.assertEqual(set(workers_of(run.pid)), {"numbers.0", "slow.0", "slow.1", "end.0"})
        os.kill(run.pid, 15)
        run.finish()

    def test_the_number_of_descriptors_stays_the_same(self):
        run = self.start_and_wait_for_workers(ENDLESS, ENDLESS_WORKERS)
        counts = {len(os.listdir(f"/proc/{run.pid}/fd")) for _ in range(50)}
        self.assertEqual(len(counts), 1)
        os.kill(run.pid, 15)
        run.finish()

    def test_workers_hold_only_their_own_descriptors(self):
        run = self.start_and_wait_for_workers(ENDLESS, ENDLESS_WORKERS)
        for name, pid in workers_of(run.pid).items():
            # 0, 1, 2 and the report pipe; the memory is mapped and its descriptors closed. The
            # first moments, before that, may show the plan, the control segment and two pools.
            self.assertLessEqual(len(os.listdir(f"/proc/{pid}/fd")), 8, name)
        os.kill(run.pid, 15)
        run.finish()


if __name__ == "__main__":
    main()
