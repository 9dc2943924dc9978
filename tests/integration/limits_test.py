#!/usr/bin/env python3
"""Too little of anything: a clear message, or it simply works."""

import os
import resource

from brigade_program import ProgramTest, line, main


class Limits(ProgramTest):
    def refused(self, yaml, *said, code=2, **options):
        finished = self.run_graph(yaml, **options)
        self.assertEqual(finished.code, code, finished.out + finished.err)
        for text in said:
            self.assertIn(text, finished.err)
        return finished

    def test_64_descriptors_are_enough(self):
        finished = self.run_graph(line(), limits=[(resource.RLIMIT_NOFILE, 64)])
        self.assertEqual(finished.code, 0, finished.err)

    def test_too_few_descriptors(self):
        self.refused(line(), "file descriptors", "ulimit -Hn",
                     limits=[(resource.RLIMIT_NOFILE, 16)])

    def test_files_may_not_be_large_enough(self):
        self.refused(line(), "edge numbers -> slow needs", "ulimit -f",
                     limits=[(resource.RLIMIT_FSIZE, 4096)])

    def test_too_little_memory_is_said_with_the_edge(self):
        self.refused("memory: 1MiB\n" + line(batch=4096), "edge slow -> end needs",
                     "memory", "graph.yaml:")

    def test_too_little_address_space(self):
        yaml = line(batch=256).replace("shape: [16]", "shape: [262144]")  # 1 MiB a sample
        self.refused(yaml, "address space", "ulimit -v",
                     limits=[(resource.RLIMIT_AS, 300 << 20)])

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

    def test_too_many_replicas_for_one_graph(self):
        self.refused(line(replicas=300), "256")

    def test_a_full_disk_costs_the_summary_not_the_run(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        finished = self.run_graph(line(count=10), "--summary", "/dev/full")
        self.assertEqual(finished.code, 1)
        self.assertIn("cannot write the summary /dev/full: No space left on device", finished.err)


if __name__ == "__main__":
    main()
