#!/usr/bin/env python3
"""Too little of anything: a clear message, or it simply works."""

import os
import pathlib
import re
import resource
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import brigade_program
from brigade_program import ProgramTest, line, main, needs_address_space

SIZE = r"[\d.]+ [KMGT]iB"
SUM = rf"\d+ x {SIZE} = {SIZE}"


class Limits(ProgramTest):
    def refused(self, yaml, said, where=None, **options):
        """`said`: a regular expression of all of the first error's text; `where`: line:column."""
        finished = self.run_graph(yaml, **options)
        self.assertEqual(finished.code, 2, finished.out + finished.err)
        place = f"{re.escape(str(self.folder))}/graph.yaml:{where}: " if where else ""
        self.assertRegex(finished.err.splitlines()[0], f"^{place}error: {said}$")
        return finished

    def one_line_or_none(self, **options):
        """Runs a small graph; its exit code. What the loader says before main() counts, too."""
        finished = self.run_graph(line(), "--quiet", **options)
        if finished.code == 0:
            self.assertEqual(finished.err, "")
        else:
            self.assertIn(finished.code, (1, 2, 127), finished.err)
            said = re.findall(r"(?:^|: )error: |error while loading", finished.err, re.MULTILINE)
            self.assertEqual(len(said), 1, finished.err)
        return finished.code

    def test_64_descriptors_are_enough(self):
        finished = self.run_graph(line(), limits=[(resource.RLIMIT_NOFILE, 64)])
        self.assertEqual(finished.code, 0, finished.err)

    def test_too_few_descriptors(self):
        self.refused(line(), r"the graph needs \d+ file descriptors for its 4 replicas, but 16 "
                             r"are allowed \(RLIMIT_NOFILE, `ulimit -Hn`\)",
                     limits=[(resource.RLIMIT_NOFILE, 16)])

    def test_any_number_of_descriptors_is_enough_or_one_line(self):
        codes = [self.one_line_or_none(limits=[(resource.RLIMIT_NOFILE, number)])
                 for number in range(3, 65, 3)]
        self.assertEqual(codes, sorted(codes, reverse=True))
        self.assertEqual({codes[0] > 0, codes[-1] > 0}, {True, False})

    def test_too_little_memory_is_said_with_the_edges(self):
        self.refused("memory: 1MiB\n" + line(batch=4096),
                     rf'stage "slow": the graph needs {SIZE} of memory, 1\.0 MiB are available '
                     rf"\(memory:\): edge slow -> end needs {SUM}; edge numbers -> slow "
                     rf"needs {SUM}",
                     where="8:3")

    def test_any_amount_of_address_space_is_enough_or_one_line(self):
        if needs_address_space():
            self.skipTest(needs_address_space())
        # The amount at which it just starts depends on the machine: found by halving.
        few, enough = 1, 4096
        codes = set()
        while enough - few > 1:
            size = (few + enough) // 2
            code = self.one_line_or_none(limits=[(resource.RLIMIT_AS, size << 20)])
            codes.add(min(code, 1))
            few, enough = (size, enough) if code else (few, size)
        self.assertEqual(codes, {0, 1})

    def test_no_core_files_and_no_locked_memory_do_not_matter(self):
        finished = self.run_graph(line(), limits=[(resource.RLIMIT_CORE, 0),
                                                  (resource.RLIMIT_MEMLOCK, 0)])
        self.assertEqual(finished.code, 0, finished.err)

    def test_one_core(self):
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(cores)})
        try:
            finished = self.run_graph(line(count=2000))
        finally:
            os.sched_setaffinity(0, cores)
        self.assertEqual(finished.code, 0, finished.err)

    def test_a_full_disk_costs_the_summary_not_the_run(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        finished = self.run_graph(line(count=10), "--summary", "/dev/full")
        self.assertEqual(finished.code, 1)
        self.assertIn("the summary: cannot write /dev/full: No space left on device", finished.err)

    def test_a_full_disk_below_the_standard_output_is_said(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        graph = self.write("graph.yaml", line(count=10))
        for command in ("check", "plan", "run"):
            for target, code, said in (("/dev/full", 1, "No space left on device"),
                                       ("/dev/null", 0, "")):
                with open(target, "w") as out:
                    done = subprocess.run([brigade_program.PROGRAM, command, graph], stdout=out,
                                          stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(done.stderr, said and "brigade: error: cannot write to standard "
                                 f"output: {said}\n", command)


if __name__ == "__main__":
    main()
