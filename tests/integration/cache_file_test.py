#!/usr/bin/env python3
"""Caches in a file: used again by later runs, made anew where something differs, never half."""

import os
import signal
import time

from brigade_program import ProgramTest, Running, alive, main, wait_until, workers_of

WORKERS = 5  # the source may have left already


def graph(*, middle="transform: delay, params: {ms: 0.02}", epochs=3, file="kept.cache", more=""):
    """numbers -> work -> m, which keeps them in a file -> end."""
    return f"""
seed: 5
epochs: {epochs}
stages:
  numbers: {{producer: synthetic, params: {{count: 330, shape: [9], vary: true, fill: random}}}}
  work: {{{middle}, from: numbers, chunk: 10, replicas: 2}}
  m:
    {{transform: cache, from: work, chunk: 10, shuffle: true, replicas: 2,
     params: {{file: {file}}}}}
  end: {{consumer: count, from: {{stage: m, batch: 20}}}}
{more}
"""


class CacheFile(ProgramTest):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "kept.cache"

    def run_both(self, first, second=None):
        """The summaries of a run that makes the file and of one that finds it."""
        made = self.summary(first)
        self.assertTrue(self.file.exists())
        return made, self.summary(first if second is None else second)

    def error_of(self, yaml, code, **options):
        finished = self.run_graph(yaml, **options)
        self.assertEqual(finished.code, code, finished.err)
        return finished.err

    def names(self, summary):
        return [stage["name"] for stage in summary["stages"]]

    def files(self):
        return sorted(path.name for path in self.folder.glob("kept*"))

    def test_the_next_run_gives_the_same_without_what_is_above(self):
        memory = self.summary(graph().replace("params: {file: kept.cache}", ""))
        first, second = self.run_both(graph())
        self.assertEqual(self.names(first), ["numbers", "work", "m", "end"])
        self.assertEqual(self.names(second), ["m", "end"])
        for summary in (first, second, self.summary(graph(), "--in-process")):
            self.assertEqual(summary["results"]["end"], memory["results"]["end"])
            for edge in summary["edges"]:
                self.assertEqual((edge["quarantined"], edge["leaked"]), (0, 0), edge)
        self.assertEqual(self.files(), ["kept.cache"])

    def test_a_run_in_threads_makes_the_same_file(self):
        self.summary(graph(), "--in-process")
        made = self.file.read_bytes()
        self.file.unlink()
        self.summary(graph())
        self.assertEqual(self.file.read_bytes(), made)

    def test_a_file_that_was_changed_is_noticed(self):
        table = self.write("table.csv", "x\n" + "1\n" * 50)
        yaml = f"""
stages:
  table: {{producer: csv, params: {{file: {table}, columns: {{x: x}}}}}}
  m: {{transform: cache, from: table, params: {{samples: 60, file: kept.cache}}}}
  end: {{consumer: count, from: m}}
"""
        first, second = self.run_both(yaml)
        self.assertEqual(self.names(second), ["m", "end"])
        self.assertEqual(second["results"]["end"], first["results"]["end"])
        self.assertEqual(second["results"]["end"]["samples"], 50)
        table.write_text("x\n" + "1\n" * 49 + "2\n")
        finished = self.run_graph(yaml)
        self.assertIn("table.params.file.file was file of 102 bytes", finished.err)
        self.assertNotEqual(self.summary(yaml)["results"]["end"], first["results"]["end"])

    def test_damage_never_gives_other_samples(self):
        yaml = graph(epochs=1)
        made = self.summary(yaml)["results"]["end"]
        good = self.file.read_bytes()
        self.assertEqual(self.summary(yaml)["results"]["end"], made)  # the control
        flip = lambda at: good[:at] + bytes([good[at] ^ 1]) + good[at + 1:]
        slots = 65536
        array = slots + 330 * 32 + (-330 * 32) % 4096
        for damaged in (flip(slots), flip(slots + 8), flip(slots + 24), flip(array + 7),
                        flip(array - 1)):
            self.file.write_bytes(damaged)
            error = self.error_of(yaml, 1)
            self.assertIn("kept.cache: is ", error)
            self.assertIn("; delete it and run again", error)
        for damaged in (flip(20), flip(slots - 9), flip(slots - 1), good + b"8 bytes.",
                        good[:slots] + bytes(8) + good[slots:], good[:-8],
                        good.replace(b"cache 2", b"cache 1", 1)):
            self.file.write_bytes(damaged)
            finished = self.run_graph(yaml)
            self.assertEqual(finished.code, 0, finished.err)
            self.assertIn(": the cache is rebuilt", finished.err)
            self.assertEqual(self.file.read_bytes(), good)

    def test_a_full_disk_is_an_error_before_anything_starts(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if os.system(f"mount -t tmpfs -o size=64k none {disk} 2>/dev/null") != 0:
            self.skipTest("a small file system cannot be mounted here")
        try:
            finished = self.run_graph(graph(file=disk / "kept.cache"))
            self.assertEqual(finished.code, 1, finished.err)
            self.assertEqual(len(finished.errors()), 1, finished.err)
            self.assertIn("which the disk cannot provide: No space left", finished.err)
            self.assertEqual(os.listdir(disk), [])
        finally:
            os.system(f"umount {disk}")

    def test_a_run_that_is_stopped_fails_or_is_killed_leaves_no_cache(self):
        # More than there are rows on the way, which a stop lets through.
        slow = graph(middle="transform: delay, params: {ms: 2}").replace("330", "20000")
        for ending, left in ((signal.SIGINT, []), (signal.SIGKILL, ["kept.cache.lock"])):
            run = self.start(slow)
            wait_until(lambda run=run: len(workers_of(run.pid)) >= WORKERS, "its workers")
            workers = list(workers_of(run.pid).values())
            time.sleep(0.1)
            os.kill(run.pid, ending)
            self.assertNotEqual(run.finish().code, 0)
            self.assertEqual(self.files(), left)
            wait_until(lambda gone=workers: not any(map(alive, gone)), "the end of its workers")
        self.assertIn("fails at", self.error_of(
            graph(middle="transform: delay, params: {fail_at: [200]}"), 1))
        self.assertEqual(self.files(), [])
        self.assertEqual(self.names(self.run_both(graph())[1]), ["m", "end"])

    def test_it_is_there_as_soon_as_everything_has_been_kept(self):
        run = self.start(graph(epochs=1_000_000))
        wait_until(self.file.exists, "the file")
        os.kill(run.pid, signal.SIGKILL)
        run.finish()
        self.assertEqual(self.names(self.summary(graph())), ["m", "end"])

    def test_samples_are_written_without_touching_it(self):
        self.summary(graph())
        made = self.file.read_bytes()
        path = self.write("graph.yaml", graph().replace("seed: 5", "seed: 6"))
        for arguments in ((), ("--set", "stages.m.params.file=kept_other.cache")):
            self.runs.append(Running(["sample", path, "--stage", "m", "-n", "3", "--out",
                                      self.folder / "out", *arguments], cwd=self.folder,
                                     environment={"TMPDIR": str(self.temporary)}))
            finished = self.runs[-1].finish()
            self.assertEqual(finished.code, 0, finished.err)
        self.assertEqual(self.files(), ["kept.cache"])
        self.assertEqual(self.file.read_bytes(), made)

    def test_of_caches_below_each_other_the_last_that_is_there_is_used(self):
        two = graph(more="""
  again: {transform: cache, from: m, params: {file: kept_again.cache}}
  last: {consumer: count, from: again}
""").replace("  end: {consumer: count, from: {stage: m, batch: 20}}\n", "")
        first, second = self.run_both(two)
        self.assertEqual(self.names(second), ["again", "last"])
        self.assertEqual(second["results"]["last"], first["results"]["last"])
        (self.folder / "kept_again.cache").unlink()
        third = self.summary(two)
        self.assertEqual(self.names(third), ["m", "again", "last"])
        self.assertEqual(third["results"]["last"], first["results"]["last"])

    def test_a_graph_may_read_the_file_itself(self):
        made = self.summary(graph(epochs=1).replace("shuffle: true, ", ""))
        read = self.summary("""
stages:
  m: {producer: cached, params: {file: kept.cache}}
  end: {consumer: count, from: {stage: m, batch: 20}}
""")
        self.assertEqual(read["results"]["end"], made["results"]["end"])


if __name__ == "__main__":
    main()
