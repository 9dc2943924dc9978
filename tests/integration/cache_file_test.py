#!/usr/bin/env python3
"""Caches in a file: used again by later runs, made anew where something differs, never half."""

import os
import resource
import signal
import time

from brigade_program import ProgramTest, Running, main, wait_until, workers_of

WORKERS = 5  # the source may have left already


def graph(*, source="", above="", cache="", middle="transform: delay, params: {ms: 0.02}", epochs=3,
          file="kept.cache", more=""):
    """numbers -> work -> m, which keeps them in a file -> end."""
    return f"""
seed: 5
epochs: {epochs}
stages:
  numbers:
    {{producer: synthetic, {source}
     params: {{count: 330, shape: [9], vary: true, fill: random}}}}
  work: {{{middle}, from: numbers, rows: 10, replicas: 2, {above}}}
  m:
    {{transform: cache, from: work, rows: 10, shuffle: true, replicas: 2, {cache}
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

    def test_samples_that_were_left_out_are_left_out_of_the_file(self):
        holes = graph(middle="transform: delay, params: {fail_at: [7, 300]}",
                      above="on_error: {skip: 10}")
        first, second = self.run_both(holes)
        self.assertEqual(first["results"]["end"]["samples"], 3 * 328)
        self.assertEqual(second["results"]["end"], first["results"]["end"])

    def test_shuffle_and_epochs_below_are_no_reason_to_make_it_anew(self):
        changed = graph(epochs=2).replace("shuffle: true, replicas", "seed: 9, replicas")
        self.assertEqual(self.names(self.run_both(graph(), changed)[1]), ["m", "end"])

    def test_what_differs_is_said_and_the_file_is_made_anew(self):
        changes = {
            "numbers.limit was 0, is 300": graph(source="limit: 300,"),
            "numbers.shuffle was false, is true": graph(source="shuffle: true,"),
            "numbers.seed was 5, is 6": graph().replace("seed: 5", "seed: 6"),
            'work.random was "work", is "other"': graph(above="random: other"),
            'work.params.every was "1", is "2"': graph().replace("ms: 0.02", "ms: 0.02, every: 2"),
            "work.type was delay, is passthrough": graph(middle="transform: passthrough"),
            "cache.limit was 0, is 200": graph(cache="limit: 200,"),
        }
        for text, yaml in changes.items():
            with self.subTest(text):
                self.summary(graph())
                finished = self.run_graph(yaml)
                self.assertEqual(finished.code, 0, finished.err)
                warnings = [line for line in finished.err.splitlines() if "made anew" in line]
                self.assertEqual(warnings, [f'brigade: warning: cache "m": {self.file} holds '
                                            f"something else ({text}): it is made anew"])
                self.assertEqual(self.names(self.summary(yaml)), ["m", "end"])

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

    def test_another_file_is_never_overwritten(self):
        other = self.write("kept.cache", "precious\n" * 10000)
        self.assertIn(f"{other} is no cache of Brigade; it is not overwritten",
                      self.error_of(graph(), 2))
        self.assertEqual(other.read_text(), "precious\n" * 10000)

    def test_what_is_broken_is_made_anew(self):
        expected, _ = self.run_both(graph())
        whole = self.file.read_bytes()
        for bytes_left, text in ((whole[:-4096], "is truncated: it has"),
                                 (whole[:100], "has a broken header: "),
                                 (whole.replace(b"complete yes", b"complete no", 1),
                                  "is not complete")):
            self.file.write_bytes(bytes_left)
            finished = self.run_graph(graph())
            self.assertEqual(finished.code, 0, finished.err)
            self.assertIn(text, finished.err)
            self.assertIn(": it is made anew", finished.err)
            self.assertEqual(self.summary(graph())["results"]["end"], expected["results"]["end"])
            self.assertEqual(self.file.stat().st_size, len(whole))

    def test_a_folder_that_is_missing_or_cannot_be_written_is_said(self):
        self.assertIn("there is no folder", self.error_of(graph(file="/nowhere/kept.cache"), 2))
        # Not even for the superuser.
        self.assertIn("cannot write /proc/kept.cache.lock",
                      self.error_of(graph(file="/proc/kept.cache"), 1))

    def test_a_limit_on_files_is_said_before_anything_starts(self):
        limits = [(resource.RLIMIT_FSIZE, 1 << 20)]
        large = graph().replace("shape: [9]", "shape: [1000]")
        errors = self.error_of(large, 2, limits=limits)
        self.assertIn("a file may have 1.0 MiB (RLIMIT_FSIZE", errors)
        self.assertIn("kept.cache", errors)
        self.assertEqual(self.files(), [])

    def test_a_full_disk_is_an_error_before_anything_starts(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if os.system(f"mount -t tmpfs -o size=64k none {disk} 2>/dev/null") != 0:
            self.skipTest("a small file system cannot be mounted here")
        try:
            finished = self.run_graph(graph(file=disk / "kept.cache"))
            self.assertEqual(finished.code, 1, finished.err)
            self.assertEqual(len(finished.errors()), 1, finished.err)
            self.assertIn("which the disk does not give: No space left", finished.err)
            self.assertEqual(os.listdir(disk), [])
        finally:
            os.system(f"umount {disk}")

    def test_of_two_runs_at_once_the_second_says_so(self):
        slow = graph(middle="transform: delay, params: {ms: 20}")
        run = self.start(slow)
        wait_until(lambda: len(workers_of(run.pid)) >= WORKERS, "its workers")
        self.assertIn(f"{self.file} is being written by another run", self.error_of(graph(), 1))
        self.assertEqual(run.finish().code, 0)
        self.assertEqual(self.names(self.summary(slow)), ["m", "end"])

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
            wait_until(lambda gone=workers: not any(os.path.exists(f"/proc/{pid}") for pid in gone),
                       "the end of its workers")
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

    def test_nothing_else_may_read_what_is_above(self):
        errors = self.error_of(graph(more="  beside: {consumer: count, from: work}"), 2)
        self.assertIn('nothing else may read what is above it, since that does not run where the '
                      'file is there; "beside" reads "work"', errors)

    def test_several_ranks_cannot_share_one(self):
        ranks = {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1"}
        self.assertIn("this is one of 2 processes that share them",
                      self.error_of(graph(), 2, environment=ranks))

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
