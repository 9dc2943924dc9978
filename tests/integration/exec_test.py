#!/usr/bin/env python3
"""`exec:`: stages that are programs of their own. The program here is a script of /usr/bin/python3
that calls the library by ctypes (programs/exec_stage.py)."""

import os
import pathlib
import re
import signal
import subprocess
import unittest

import brigade_program
from brigade_program import ProgramTest, Running, children, main, sanitizer, wait_until

SCRIPT = pathlib.Path(__file__).parent / "programs" / "exec_stage.py"
PYTHON = "/usr/bin/python3"


def library():
    return brigade_program.PROGRAM.parent.parent / "lib" / "libbrigade.so"


def words(behaviour):
    return f"[{PYTHON}, {SCRIPT}, {behaviour}]"


def graph(behaviour, *, count=200, replicas=1, more="", batch=0, epochs=1,
          tensors="twice: {dtype: f32, shape: [3]}", command=None):
    """numbers -> work -> end"""
    return f"""epochs: {epochs}
stages:
  numbers:
    producer: synthetic
    params: {{count: {count}, shape: [3], dtype: f32, fill: random}}
    shuffle: true
  work:
    exec: {command or words(behaviour)}
    from: {f"{{stage: numbers, batch: {batch}}}" if batch else "numbers"}
    replicas: {replicas}
    drop: data
    tensors: {{{tensors}}}
{more}
  end: {{consumer: count, from: {{stage: work, batch: 8}}}}
"""


@unittest.skipIf(not os.access(PYTHON, os.X_OK), "there is no " + PYTHON)
class Exec(ProgramTest):
    def setUp(self):
        super().setUp()
        if sanitizer():
            self.skipTest("an interpreter without the sanitizer cannot load the library")

    def end(self, yaml, *arguments):
        return self.summary(yaml, *arguments)["results"]["end"]

    def check(self, yaml):
        """Where the mistakes are, and what they say."""
        self.runs.append(Running(["check", self.write("graph.yaml", yaml)], cwd="/"))
        finished = self.runs[-1].finish()
        self.assertEqual(finished.code, 2, finished.out + finished.err)
        return re.findall(r"^\S*graph\.yaml:(\d+:\d+): error: (.*)$", finished.err, re.M)

    def one_mistake(self, yaml, place, text):
        said = [(at, what.replace(str(self.folder), "FOLDER")) for at, what in self.check(yaml)]
        self.assertEqual(said, [(place, text)])

    def failure(self, yaml, *arguments):
        """The line that ends the run."""
        finished = self.run_graph(yaml, "--quiet", *arguments)
        self.assertEqual(finished.code, 1, finished.out + finished.err)
        errors = finished.errors()
        self.assertEqual(len(errors), 1, finished.err)
        return re.sub(r"\(pid \d+\) ", "", errors[0].removeprefix("brigade: error: "))

    def test_gives_the_same_for_any_replicas_and_batch(self):
        found = self.end(graph("double", replicas=1))
        self.assertEqual(found["samples"], 200)
        for options in ({"replicas": 3}, {"batch": 7, "replicas": 2}, {"batch": 64}):
            with self.subTest(options):
                again = self.end(graph("double", **options))
                self.assertEqual(again["checksum"], found["checksum"])
        wrong = self.end(graph("wrong"))
        self.assertNotEqual(wrong["checksum"], found["checksum"])

    def test_has_random_numbers_of_its_samples(self):
        tensors = "drawn: {dtype: i64, shape: [2]}"
        found = {self.end(graph("draw", tensors=tensors, epochs=2, **options))["checksum"]
                 for options in ({}, {"replicas": 4}, {"batch": 16, "replicas": 2})}
        self.assertEqual(len(found), 1)
        other = self.end(graph("draw", tensors=tensors, epochs=2), "--set", "seed=4")
        self.assertNotIn(other["checksum"], found)

    def test_is_a_source_and_a_consumer(self):
        yaml = f"""
epochs: 2
stages:
  values:
    exec: {words("count")}
    count: 100
    shuffle: true
    replicas: 2
    params: {{factor: 3, name: "no number", list: [1, {{a: null}}]}}
    tensors: {{value: {{dtype: i64, shape: []}}}}
  total: {{exec: {words("sum")}, from: {{stage: values, batch: 8}}}}
  end: {{consumer: count, from: values}}
"""
        summary = self.summary(yaml)
        self.assertEqual(summary["results"]["total"]["total"], 2 * 3 * 99 * 100 / 2)
        self.assertEqual(summary["results"]["end"]["samples"], 200)

    def test_drops_samples_and_says_which_are_bad(self):
        self.assertEqual(self.end(graph("odd"))["samples"], 100)
        bad = "    on_error: {skip: 2}\n    params: {at: [3, 5]}"
        self.assertEqual(self.end(graph("fail", more=bad))["samples"], 198)
        self.assertRegex(self.failure(graph("fail", more="    params: {at: [3]}")),
                         r'^stage "work" replica 0 failed: sample \d+ \(.*id 3.*\): '
                         r"this one is bad$")

    def test_a_bad_sample_has_the_name_that_its_source_gives_it(self):
        self.write("rows.csv", "data\n" + "".join(f"{i}.5\n" for i in range(20)))
        yaml = graph("fail", more="    params: {at: [3]}")
        begin, end = yaml.index("    producer: synthetic"), yaml.index("  work:")
        yaml = (yaml[:begin] + "    producer: csv\n"
                "    params: {file: rows.csv, columns: {data: [data]}}\n" + yaml[end:])
        self.assertRegex(self.failure(yaml),
                         r'^stage "work" replica 0 failed: sample \d+ \(.*rows\.csv.*5.*\): '
                         r"this one is bad$")

    def test_is_killed_repaired_and_started_again(self):
        marks = self.folder / "marks"
        marks.mkdir()
        at = f"""    restart: {{policy: on_failure, burst: 50, within: 1m, backoff: 0s}}
    params: {{at: [2, 50, 51, 180], marks: "{marks}"}}"""
        found = self.summary(graph("kill_once", replicas=2, epochs=2, more=at))
        self.assertEqual(len(list(marks.iterdir())), 8)
        self.assertEqual(found["results"]["end"]["checksum"],
                         self.end(graph("double", epochs=2))["checksum"])
        # The control: what the dead had written would be seen.
        self.assertNotEqual(self.end(graph("wrong", epochs=2))["checksum"],
                            found["results"]["end"]["checksum"])

    def test_a_sample_that_ends_its_worker_goes_into_quarantine(self):
        more = """    restart: {policy: on_failure, burst: 50, within: 1m, backoff: 0s}
    poison_after: 2
    on_error: {skip: 1}
    params: {at: [7]}"""
        self.assertEqual(self.end(graph("die", more=more))["samples"], 199)

    def test_dies_with_the_run(self):
        run = self.start(graph("double", count=100_000, epochs=1000, replicas=2))
        wait_until(lambda: self.has_consumed(run, "end") or run.ended(), "samples")
        self.assertFalse(run.ended())
        self.processes += [run.pid, *children(run.pid)]
        self.assertGreaterEqual(len(self.processes), 5)
        run.process.send_signal(signal.SIGKILL)
        run.finish()

    def test_what_it_prints_is_shown_as_lines(self):
        finished = self.run_graph(graph("garbage"))
        self.assertEqual(finished.code, 0, finished.err)
        shown = [one for one in (finished.out + finished.err).splitlines() if "work.0: " in one]
        self.assertEqual(len([one for one in shown if "no" in one and "text" in one]), 3, shown)
        self.assertTrue(shown[-1].endswith('work.0: without an end{"kind": "done"}'), shown)
        self.assertNotIn("\x1b[31m", "".join(shown))

    def test_what_is_found_before_the_start(self):
        self.one_mistake(graph("", command="[./nowhere]"), "8:12",
                         'stage "work": `exec`: there is no program FOLDER/nowhere')
        self.one_mistake(graph("", command="no_such_program_anywhere"), "8:11",
                         'stage "work": `exec`: there is no program "no_such_program_anywhere" in '
                         'the folders of PATH')
        self.write("plain.py", "").chmod(0o644)
        self.one_mistake(graph("", command="./plain.py"), "8:11",
                         'stage "work": `exec`: FOLDER/plain.py is not executable')
        self.one_mistake(graph("", command="[/]"), "8:12", 'stage "work": `exec`: / is not a file')
        self.one_mistake("stages:\n  a:\n    exec: [/bin/true]\n"
                         "    tensors: {x: {dtype: u8, shape: []}}\n"
                         "  end: {consumer: count, from: a}\n", "3:12",
                         'stage "a": `count:` is missing: the number of samples is unknown')
        self.one_mistake("stages:\n  a:\n    exec: [/bin/true]\n    count: 5\n"
                         "  end: {consumer: count, from: a}\n", "3:5",
                         'stage "a": `tensors:` is missing: write '
                         '`tensors: {NAME: {dtype: f32, shape: [3, 4]}}`')

    def test_relative_paths_are_those_of_the_file(self):
        script = self.write("here.sh", f'#!/bin/sh\nexec {PYTHON} {SCRIPT} "$1"\n')
        script.chmod(0o755)
        path = self.write("graph.yaml", graph("", command="[./here.sh, double]"))
        self.runs.append(Running(["run", path, "--quiet"], cwd="/"))
        finished = self.runs[-1].finish()
        self.assertEqual(finished.code, 0, finished.err)

    def test_what_a_program_may_do_wrong(self):
        self.assertEqual(
            self.failure(graph("never_attaches")),
            'stage "work" replica 0 exited with code 0 before its work was done (an '
            '`exec:` program must call brigade_worker_next() until it returns BRIGADE_END, and '
            'then brigade_worker_close()); its last output: "I am no stage"; it has not asked for '
            'a task')
        self.assertRegex(
            self.failure(graph("leave", more="    chunk: 1")),
            r'^stage "work" replica 0 exited with code 0 before its work was done \(an '
            r"`exec:` program must call .*\) with sample \d+ in flight \(epoch 0, index \d+, "
            r"id 3\)$")
        self.assertRegex(self.failure(graph("child")),
                         "only the process that `exec:` started can attach, not its children")
        self.assertRegex(self.failure(graph("other_version")),
                         "the run has a different version than this library")
        self.assertRegex(self.failure(graph("other_layout")), "version")
        never = "    restart: never"
        self.assertRegex(self.failure(graph("unsettled", more=never)),
                         "the last task is not settled: finish it, drop it, or report its error")
        self.assertRegex(self.failure(graph("other_name", more=never)),
                         r'the task has no output \\?"thrice\\?": available: twice')
        self.assertEqual(self.failure(graph("give_up")),
                         'stage "work" replica 0 failed: the model is gone')
        script = self.write("broken", "#!/no/interpreter\n")
        script.chmod(0o755)
        self.assertRegex(self.failure(graph("", command="./broken")),
                         r'^stage "work" replica 0: cannot execute .*/broken: No such file or '
                         r"directory; a script needs a first line such as")
        self.assertRegex(self.failure(graph("", command=f"[{brigade_program.PROGRAM}]")),
                         "`exec:` started `brigade` or a program with an App")
        self.assertRegex(self.failure(graph("double"), "--in-process"),
                         r'stage "work" is a program \(`exec:`\), which needs its own process')

    def test_a_program_that_never_asks_for_a_task_is_named(self):
        run = self.start(graph("", command="[/bin/sleep, 1000]", more="    stall_timeout: 300ms"))
        said = next(line for line in run.process.stderr if "has not asked" in line)
        self.assertRegex(
            said, r'stage "work" replica 0 has not asked for a task for .* '
            r"\(`stall_timeout:`\), and others wait for it: its program must call "
            r"brigade_worker_attach\(\), load its data and call brigade_worker_next\(\)$")
        self.assertFalse(run.ended())
        run.process.send_signal(signal.SIGINT)
        self.assertNotIn("has not asked", run.finish().err)  # once

    def test_attaches_once(self):
        finished = self.run_graph(graph("twice"))
        self.assertEqual(finished.code, 0, finished.err)
        self.assertIn("this process is already attached: a replica attaches once",
                      finished.out + finished.err)

    def test_nothing_attaches_outside_a_run(self):
        environment = dict(os.environ)
        environment.pop("BRIGADE_WORKER", None)
        environment["BRIGADE_LIBRARY"] = str(library())
        done = subprocess.run([PYTHON, SCRIPT, "double"], env=environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no graph to attach to", done.stderr)


if __name__ == "__main__":
    main()
