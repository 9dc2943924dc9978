#!/usr/bin/env python3
"""Edges of `memory: device` between processes, on the device of the host, which copies late."""

import json
import os
import signal

from brigade_program import ProgramTest, main, workers_of

SAMPLES = 400
LATE = {"BRIGADE_HOST_DEVICE": "delay_us=2000"}


PINS_LITTLE = {"BRIGADE_HOST_DEVICE": "pinned=10KiB"}
PINS_NONE_TO_READ = {"BRIGADE_HOST_DEVICE": "read_only_refused"}


def graph(*, memory="memory: device", device="host", up="", down="", above="", epochs=2,
          size=1000):
    """numbers -> up -> down -> end, of which the second edge is on a device."""
    return f"""
epochs: {epochs}
stages:
  numbers:
    {{producer: synthetic, batch: 20, {above}
     params: {{count: {SAMPLES}, shape: [{size}], name: image, fill: random}}}}
  up:
    {{transform: to_device, from: numbers, params: {{tensor: image}}, batch: 20, device: {device},
     {memory}, {up}}}
  down:
    {{transform: from_device, from: up, params: {{tensor: image}}, batch: 20, device: {device},
     {down}}}
  end: {{consumer: count, from: down}}
"""


def pictures(*stages):
    """Pictures, through these of up, floats and down: a stage and where it leaves its tensors."""
    lines = ["pictures: {producer: synthetic, batch: 20, params: {count: 400, shape: [8, 8, 3],"
             " dtype: u8, name: image, fill: random}}"]
    types = {"up": "to_device, params: {tensor: image}",
             "floats": "normalize_image, params: {pad: 2, flip: 0.5, dtype: f16}",
             "down": "from_device, params: {tensor: image}"}
    source = "pictures"
    for stage, memory in stages:
        lines.append(f"{stage}: {{transform: {types[stage]}, from: {source}, batch: 20,"
                     f" device: host, memory: {memory}}}")
        source = stage
    lines.append(f"end: {{consumer: count, from: {source}}}")
    return "epochs: 2\nstages:\n" + "".join(f"  {line}\n" for line in lines)


class DeviceMemory(ProgramTest):
    def setUp(self):
        super().setUp()
        self.wanted = self.summary(graph(memory="memory: host"))["results"]["end"]

    def end_of(self, yaml, **options):
        summary = self.summary(yaml, **options)
        for edge in summary["edges"]:
            self.assertEqual((edge["quarantined"], edge["leaked"]), (0, 0), edge)
        return summary["results"]["end"], summary

    def refusal(self, yaml, *arguments, code=1, **options):
        finished = self.run_graph(yaml, *arguments, **options)
        self.assertEqual(finished.code, code, finished.err)
        return finished.err

    def test_the_bytes_are_those_of_the_edge_in_the_hosts_memory(self):
        self.assertEqual(self.wanted["samples"], 2 * SAMPLES)
        self.assertEqual(self.end_of(graph())[0], self.wanted)
        self.assertEqual(self.end_of(graph(), environment=LATE)[0], self.wanted)

    def test_what_is_uploaded_is_read_from_pinned_memory_where_that_can_be_had(self):
        for up, environment, line in (
                ("", LATE, "up: pinned "),
                ("pin: yes", LATE, "up: pinned "),
                ("", PINS_LITTLE, "up: copies from pageable memory, which is "
                 "slower: device host: pinned "),
                ("", PINS_NONE_TO_READ, "up: copies from pageable memory, which "
                 "is slower: device host: cannot pin read-only memory"),
                ("pin: no", PINS_LITTLE, "")):
            with self.subTest(up=up, environment=environment):
                finished = self.run_graph(graph(up=up), environment=environment)
                self.assertEqual(finished.code, 0, finished.err)
                self.assertEqual(finished.err.count(line or "up: "), 1 if line else 0, finished.err)
                self.assertEqual(self.end_of(graph(up=up), environment=environment)[0],
                                 self.wanted)
        self.assertIn("device host: pinned memory of ",
                      self.refusal(graph(up="pin: yes"), environment=PINS_LITTLE))

    def test_pictures_become_floats_where_they_lie(self):
        wanted = self.end_of(pictures(("floats", "host")))[0]
        self.assertEqual(wanted["samples"], 800)
        for stages in ((("up", "device"), ("floats", "device"), ("down", "host")),
                       (("up", "device"), ("floats", "host")),
                       (("floats", "device"), ("down", "host"))):
            with self.subTest(stages=stages):
                self.assertEqual(self.end_of(pictures(*stages), environment=LATE)[0], wanted)

    def test_events_that_pass_too_early_are_seen(self):
        """The control of the tests here: a device whose events say nothing gives other floats."""
        wanted = self.end_of(pictures(("floats", "host")))[0]
        early = {"BRIGADE_HOST_DEVICE": "early checks=0 delay_us=20000"}
        stages = ("floats", "device"), ("down", "host")
        self.assertNotEqual(self.end_of(pictures(*stages), environment=early)[0], wanted)

    def test_what_was_done_outlives_its_writer(self):
        """Each time the writer is killed with a task that is done and not published yet, or with a
        copy on its way; its successor goes on in the same memory."""
        for point, passage in (("finish.after_done", 3), ("finish.after_done", 17),
                               ("finish.start", 9), ("work.start", 1)):
            with self.subTest(point=point, passage=passage):
                fault = {"BRIGADE_FAULT": f"up.0={point}:{passage}:kill"}
                ended, summary = self.end_of(graph(), environment={**LATE, **fault})
                self.assertEqual(ended, self.wanted)
                self.assertEqual(sum(stage["restarts"] for stage in summary["stages"]), 1)

    def test_a_reader_that_is_killed_reads_again_what_it_had_not_finished(self):
        for point, passage in (("finish.start", 4), ("work.start", 12), ("finish.after_done", 2)):
            with self.subTest(point=point, passage=passage):
                fault = {"BRIGADE_FAULT": f"down.0={point}:{passage}:kill"}
                ended, summary = self.end_of(graph(), environment={**LATE, **fault})
                self.assertEqual(ended, self.wanted)
                self.assertEqual(sum(stage["restarts"] for stage in summary["stages"]), 1)

    def test_the_supervisor_alone_keeps_the_memory(self):
        """Reader and writer are gone at the same time, as is who made it: of the processes that
        are left only the supervisor has it, and that has no device."""
        yaml = graph(epochs=30)
        wanted = self.summary(yaml.replace("memory: device", "memory: host"))["results"]["end"]
        path = self.folder / "summary.json"
        run = self.start_and_wait_for_samples(yaml, 4, "end", "--summary", path, environment=LATE)
        mappers = [workers_of(run.pid)[name] for name in ("up.0", "down.0")]
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in mappers:
                os.kill(pid, number)
        finished = run.finish()
        self.assertEqual(finished.code, 0, finished.err)
        self.assertEqual(finished.err.count("was killed by SIGKILL"), 2, finished.err)
        self.assertEqual(json.loads(path.read_text())["results"]["end"], wanted)

    def test_bad_cases_have_a_line_each(self):
        self.assertIn("error: the device memory of up -> down: device host: shared device memory "
                      "of ", self.refusal(graph(), environment={
                          "BRIGADE_HOST_DEVICE": "memory=1KiB"}))
        nowhere = {"CUDA_VISIBLE_DEVICES": ""}  # where there is a driver
        self.assertRegex(self.refusal(graph(device="cuda"), environment=nowhere),
                         "device cuda(:0)?: no (NVIDIA driver found|visible GPU)")
        self.assertIn("`device: auto` found none (",
                      self.refusal(graph(device="auto"), environment=nowhere))
        self.assertIn("has `memory: device`, which needs separate processes",
                      self.refusal(graph(), "--in-process"))
        self.assertIn("samples may be missing",
                      self.refusal(graph(up="on_error: {skip: 3}"), code=2))
        self.assertIn("a copy failed midway", self.refusal(graph(), environment={
            "BRIGADE_HOST_DEVICE": "fail_copy=7"}))


if __name__ == "__main__":
    main()
